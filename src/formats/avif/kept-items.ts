/** Decides which items to keep: the images, not what only describes them. */
import { Refusal } from '../../errors.ts'
import { refuse } from '../bmff/fields.ts'
import { auxiliaryType, type Item, type Meta, propertyOf } from './meta.ts'

export const AV1 = 'av01'

/** Derived images (23008-12, 6.6; `tmap`: gain map applied, ISO 21496-1; `sato`: higher bit depth, AVIF 1.2). */
const DERIVED_TYPES: ReadonlySet<string> = new Set(['grid', 'iovl', 'iden', 'tmap', 'sato'])

/**
 * The images to keep: the primary image, every other visible AV1 or derived image, and their inputs and auxiliary images
 * (tiles, alpha, depth, gain map). Dropped: thumbnails with their inputs, hidden images that no visible image uses, and all
 * items that are not images. Throws `Refusal('unsupported-type')` when the primary image is not coded in AV1.
 */
export function keptItems(meta: Meta): Map<number, Item> {
  const auxiliaries = auxiliariesOf(meta)
  const thumbnails = meta.references.filter(({ box }) => box.type === 'thmb').map(({ from }) => from)
  const auxiliaryImages = new Set([...auxiliaries.values()].flat())
  const parts = new Set<number | null>(thumbnails)
  for (const { inputs } of meta.items.values()) for (const input of inputs) parts.add(input)
  for (const { id } of auxiliaryImages) parts.add(id)

  const pending = meta.primary === null ? [] : [meta.primary]
  for (const item of meta.items.values()) {
    if (isImage(item) && !item.isHidden && !parts.has(item.id) && !propertyOf(item, 'auxC'))
      pending.push(item.id)
  }
  const kept = new Map<number, Item>()
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    if (kept.has(id)) continue
    const item = meta.items.get(id)
    if (!item) return refuse('it refers to an item that does not exist')
    if (!isImage(item)) {
      throw new Refusal('unsupported-type', 'The file is not an AVIF image: its picture is not coded in AV1.')
    }
    kept.set(id, item)
    // An auxiliary image cannot have auxiliary images (23008-12, 3.1).
    if (auxiliaryImages.has(item) && auxiliaries.has(id))
      refuse('an auxiliary image has an auxiliary image (auxl)')
    for (const input of item.inputs) pending.push(input)
    for (const auxiliary of auxiliaries.get(id) ?? []) pending.push(auxiliary.id)
  }
  return kept
}

function isImage({ type }: Item): boolean {
  return type === AV1 || DERIVED_TYPES.has(type)
}

/** Auxiliary types that viewers support: alpha, depth, and Apple's gain map. */
export const AUXILIARY_TYPES: ReadonlySet<string> = new Set([
  'urn:mpeg:mpegB:cicp:systems:auxiliary:alpha',
  'urn:mpeg:mpegB:cicp:systems:auxiliary:depth',
  'urn:mpeg:hevc:2015:auxid:1',
  'urn:mpeg:hevc:2015:auxid:2',
  'urn:com:apple:photo:2020:aux:hdrgainmap',
])

/** Auxiliary images by the ID of their master image (23008-12, 6.4.5). */
function auxiliariesOf(meta: Meta): Map<number, Item[]> {
  const auxiliaries = new Map<number, Item[]>()
  // Read the type of each item once, regardless of how many reference lists it has.
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
