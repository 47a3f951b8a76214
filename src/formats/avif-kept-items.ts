/** Which items are the picture, and which only describe it. */
import { Refusal } from '../errors.ts'
import type { Item, Meta } from './avif-items.ts'
import { refuse } from './bmff-fields.ts'

export const AV1 = 'av01'

/** Images made from others (23008-12, 6.6; `tmap`: with a gain map, ISO 21496-1; `sato`: more bits, AVIF 1.2). */
const DERIVED_TYPES: ReadonlySet<string> = new Set(['grid', 'iovl', 'iden', 'tmap', 'sato'])

/**
 * The images to keep: the primary one, every other AV1 image or image derived from some, and what those are made of
 * or completed by (tiles, alpha, depth, gain map). Not kept: thumbnails with their parts, and all that is no image.
 * Throws `Refusal('unsupported-type')` if the primary image is coded in another way.
 */
export function keptItems(meta: Meta): Map<number, Item> {
  const inputs = links(meta, 'dimg')
  const auxiliaries = links(meta, 'auxl')
  const thumbnails = new Set(meta.references.filter(({ type }) => type === 'thmb').map(({ from }) => from))
  const parts = new Set([...inputs.values(), ...auxiliaries.values()].flat())

  const open = meta.primary === null ? [] : [meta.primary]
  for (const item of meta.items.values()) {
    if (isImage(item) && !thumbnails.has(item.id) && !parts.has(item.id)) open.push(item.id)
  }
  const kept = new Map<number, Item>()
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (kept.has(id)) continue
    const item = meta.items.get(id)
    if (!item) return refuse('an image is missing')
    if (!isImage(item)) {
      throw new Refusal('unsupported-type', 'The file is no AVIF image: its picture is not coded in AV1.')
    }
    kept.set(id, item)
    open.push(...(inputs.get(id) ?? []))
    for (const auxiliary of auxiliaries.get(id) ?? []) {
      const item = meta.items.get(auxiliary)
      if (item && isImage(item)) open.push(auxiliary)
    }
  }
  return kept
}

function isImage({ type }: Item): boolean {
  return type === AV1 || DERIVED_TYPES.has(type)
}

/** From a derived image to the images it is made of, or from an image to those that complete it. */
function links(meta: Meta, type: 'dimg' | 'auxl'): Map<number, number[]> {
  const links = new Map<number, number[]>()
  for (const { type: found, from, ids } of meta.references) {
    if (found !== type || from === null) continue
    for (const id of ids) {
      const [key, value] = type === 'dimg' ? [from, id] : [id, from]
      const known = links.get(key)
      if (known) known.push(value)
      else links.set(key, [value])
    }
  }
  return links
}

/** The items that a derived image is made of, in order. */
export function inputsOf(meta: Meta, id: number): number[] {
  return meta.references.find(({ type, from }) => type === 'dimg' && from === id)?.ids ?? []
}
