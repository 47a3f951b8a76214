/** Colour and transformations of a still AVIF. Decoders of the coded pixels do not apply them. */
import { boxesIn, boxFileOf } from '../bmff/file.ts'
import type { ByteSource } from '../image.ts'
import { type Colour, colourOf } from './colour.ts'
import { type Item, readMeta } from './meta.ts'

export interface Still {
  colour: Colour
  /** Transformations to apply in order, as Exif orientations (TIFF 6.0, tag 274). */
  orientations: number[]
}

/** Reads the primary item. `null` when there is none, or when it is cropped (`clap`). Only for files that passed inspection. */
export async function readStill(source: ByteSource): Promise<Still | null> {
  const file = boxFileOf(source)
  const { boxes } = await boxesIn(file, { start: 0, end: source.size }, source.size)
  const box = boxes.find(({ type }) => type === 'meta')
  const meta = box ? await readMeta(file, box) : null
  const primary = meta?.items.get(meta.primary ?? -1)
  if (!meta || !primary) return null
  if (primary.properties.some(({ property }) => property.box.type === 'clap')) return null
  const [tile = -1] = primary.inputs
  return { colour: colourOf(primary, meta.items.get(tile)), orientations: orientationsOf(primary) }
}

/** Orientations for 0 to 3 counterclockwise quarter turns (23008-12, 6.5.10). */
const TURNS = [1, 8, 3, 6]
/** Orientations for a top-bottom and a left-right flip (6.5.12). */
const MIRRORS = [4, 2]

function orientationsOf({ properties }: Item): number[] {
  return properties.flatMap(({ property }) => {
    if (property.box.type === 'irot') return TURNS[property.read().u8() & 3]!
    if (property.box.type === 'imir') return MIRRORS[property.read().u8() & 1]!
    return []
  })
}
