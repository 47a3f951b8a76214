/** Which items are the picture, and which only describe it. */
import { Refusal } from '../../errors.ts'
import { refuse } from '../bmff/fields.ts'
import { auxiliaryType, type Item, type Meta, propertyOf } from './meta.ts'

export const AV1 = 'av01'

/** Images made from others (23008-12, 6.6; `tmap`: with a gain map, ISO 21496-1; `sato`: more bits, AVIF 1.2). */
const DERIVED_TYPES: ReadonlySet<string> = new Set(['grid', 'iovl', 'iden', 'tmap', 'sato'])

/**
 * The images to keep: the primary one, every other AV1 image or image derived from some, and what those are made of
 * or completed by (tiles, alpha, depth, gain map). Not kept: thumbnails with their parts, hidden images that are no part of a
 * shown one, and everything but images.
 * Throws `Refusal('unsupported-type')` if the primary image is coded in another way.
 */
export function keptItems(meta: Meta): Map<number, Item> {
  const auxiliaries = auxiliariesOf(meta)
  const thumbnails = meta.references.filter(({ box }) => box.type === 'thmb').map(({ from }) => from)
  const completing = new Set([...auxiliaries.values()].flat())
  const parts = new Set<number | null>(thumbnails)
  for (const { inputs } of meta.items.values()) for (const input of inputs) parts.add(input)
  for (const { id } of completing) parts.add(id)

  const open = meta.primary === null ? [] : [meta.primary]
  for (const item of meta.items.values()) {
    if (isImage(item) && !item.isHidden && !parts.has(item.id) && !propertyOf(item, 'auxC'))
      open.push(item.id)
  }
  const kept = new Map<number, Item>()
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (kept.has(id)) continue
    const item = meta.items.get(id)
    if (!item) return refuse('it refers to an item that does not exist')
    if (!isImage(item)) {
      throw new Refusal('unsupported-type', 'The file is not an AVIF image: its picture is not coded in AV1.')
    }
    kept.set(id, item)
    // What an auxiliary image completes is none itself (23008-12, 3.1).
    if (completing.has(item) && auxiliaries.has(id)) refuse('an auxiliary image has one of its own (auxl)')
    for (const input of item.inputs) open.push(input)
    for (const auxiliary of auxiliaries.get(id) ?? []) open.push(auxiliary.id)
  }
  return kept
}

function isImage({ type }: Item): boolean {
  return type === AV1 || DERIVED_TYPES.has(type)
}

/** What viewers know of: alpha, depth, and Apple's gain map. */
export const AUXILIARY_TYPES: ReadonlySet<string> = new Set([
  'urn:mpeg:mpegB:cicp:systems:auxiliary:alpha',
  'urn:mpeg:mpegB:cicp:systems:auxiliary:depth',
  'urn:mpeg:hevc:2015:auxid:1',
  'urn:mpeg:hevc:2015:auxid:2',
  'urn:com:apple:photo:2020:aux:hdrgainmap',
])

/** The images that complete an image, by its number (23008-12, 6.4.5). */
function auxiliariesOf(meta: Meta): Map<number, Item[]> {
  const auxiliaries = new Map<number, Item[]>()
  // Each item is looked at once, however many lists it has.
  const known = new Set(
    [...meta.items.values()].filter((item) => isImage(item) && AUXILIARY_TYPES.has(auxiliaryType(item))),
  )
  for (const { box, from, ids } of meta.references) {
    const auxiliary = box.type === 'auxl' && from !== null && meta.items.get(from)
    if (!auxiliary || !known.has(auxiliary)) continue
    for (const id of ids) {
      const others = auxiliaries.get(id)
      if (others) others.push(auxiliary)
      else auxiliaries.set(id, [auxiliary])
    }
  }
  return auxiliaries
}
