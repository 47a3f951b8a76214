/** Colours and transforms of a still AVIF, which decoders of its coded pixels do not apply. */
import { boxesIn, boxFileOf } from '../bmff/file.ts'
import type { ByteSource } from '../image.ts'
import { type Colour, colourOf } from './colour.ts'
import { type Item, readMeta } from './meta.ts'

export interface Still {
  colour: Colour
  /** To be applied in turn, as Exif orientations (TIFF 6.0, tag 274). */
  orientations: number[]
}

/** Reads them of the primary item. `null` if there is none, or if it is cropped (`clap`). For files that passed inspection. */
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

/** Quarter turns against the clock (23008-12, 6.5.10). */
const TURNS = [1, 8, 3, 6]
/** Top and bottom change places, or left and right (6.5.12). */
const MIRRORS = [4, 2]

function orientationsOf({ properties }: Item): number[] {
  return properties.flatMap(({ property }) => {
    if (property.box.type === 'irot') return TURNS[property.read().u8() & 3]!
    if (property.box.type === 'imir') return MIRRORS[property.read().u8() & 1]!
    return []
  })
}
