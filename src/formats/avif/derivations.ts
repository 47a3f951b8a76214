/** What derived images may be made of (23008-12, 6.6; MIAF, ISO/IEC 23000-22, 7.3.11): decoders follow these chains. */
import { MAX_FRAME_PIXELS } from '../../protocol.ts'
import { refuse } from '../bmff/fields.ts'
import { spatialExtent } from './item-properties.ts'
import { type Item, MAX_ITEMS } from './items.ts'

/**
 * A chain climbs from coded images to grids, overlays, sample transforms (AVIF 1.2, 4.2.3) and tone maps (4.2.2), and
 * passes each step once at most. An identity may stand on any step, but on no other identity.
 */
const STEPS: Record<string, number> = { av01: 0, grid: 1, iovl: 2, sato: 3, tmap: 4 }

/** How many images each is made of. */
const INPUTS: Record<string, { least: number; most: number }> = {
  iden: { least: 1, most: 1 },
  grid: { least: 1, most: MAX_ITEMS },
  iovl: { least: 1, most: MAX_ITEMS },
  // Operands are numbered from 1 to 32 (AVIF 1.2, 4.2.3.3).
  sato: { least: 1, most: 32 },
  tmap: { least: 2, most: 2 },
}

const NO_INPUTS = { least: 0, most: 0 }

/** Coded pixels of one image, each counted as often as a decoder meets it on its way. */
const MOST_CODED_PIXELS = 4 * MAX_FRAME_PIXELS

/** What one image costs a decoder. */
interface Effort {
  /** For an identity derivation, the value of the image that it shows. */
  step: number
  pictures: number
  pixels: number
}

/**
 * Throws `Refusal('damaged-image')` unless every chain is as short as MIAF says, has no cycle, and unfolds to no more
 * coded images than a file may have items. Takes time linear in the number of references.
 */
export function checkDerivations(images: Map<number, Item>): void {
  const efforts = new Map<number, Effort>()

  /** `below`: the step of the image that is made of this one. Steps and identities bound the depth of the recursion. */
  function effortOf(id: number, below: number, onIdentity: boolean): Effort {
    const item = images.get(id) ?? refuse('it refers to an item that does not exist')
    const isIdentity = item.type === 'iden'
    const known = efforts.get(id)
    const step = known?.step ?? (isIdentity ? -1 : (STEPS[item.type] ?? 0))
    if (step >= below || (isIdentity && onIdentity)) {
      refuse('an image is made of images that may not be part of it (dimg)')
    }
    if (known) return known
    const { least, most } = INPUTS[item.type] ?? NO_INPUTS
    if (item.inputs.length < least) refuse('a derived image has no inputs (dimg)')
    if (item.inputs.length > most) refuse('an image is made of too many images (dimg)')
    const effort = item.inputs.length > 0 ? { step, pictures: 0, pixels: 0 } : codedEffort(item)
    for (const input of item.inputs) {
      const part = effortOf(input, isIdentity ? below : step, isIdentity)
      effort.pictures += part.pictures
      effort.pixels += part.pixels
      if (isIdentity) effort.step = part.step
    }
    if (effort.pictures > MAX_ITEMS || effort.pixels > MOST_CODED_PIXELS) {
      refuse('an image is made of too many images (dimg)')
    }
    efforts.set(id, effort)
    return effort
  }
  for (const id of images.keys()) effortOf(id, Number.POSITIVE_INFINITY, false)
}

function codedEffort(item: Item): Effort {
  const { width, height } = spatialExtent(item)
  return { step: 0, pictures: 1, pixels: width * height }
}
