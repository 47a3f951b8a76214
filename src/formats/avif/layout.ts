/** The top level of an AVIF file: where its description and its data are. */
import { Refusal } from '../../errors.ts'
import type { Edit } from '../bmff/edits.ts'
import { type Box, type Run, refuse } from '../bmff/fields.ts'
import { type BoxFile, boxesIn, readRun } from '../bmff/file.ts'
import { brandEdits, brandsOf, namesAvif } from './brands.ts'

/** The inside of a box. */
interface DataRegion extends Run {
  box: Box
}

export interface AvifLayout {
  boxes: Box[]
  meta: Box | null
  moov: Box | null
  /** Where image data may be: in `mdat` and `imda` (14496-12, 8.1.1 and 8.1.4). */
  data: DataRegion[]
  /** What has to go of the file type. */
  edits: Edit[]
}

/** One of these that ends after the file does is cut off. Anything else at the end is not a box, but litter. */
const KNOWN_TYPES: ReadonlySet<string> = new Set(
  'ftyp meta moov mdat imda free skip wide uuid udta moof mfra sidx ssix styp prft pdin emsg meco mpvd'.split(
    ' ',
  ),
)

/** A type of four brands is usual. Unit: bytes. */
const MAX_BRANDS_BYTES = 4096

export async function layoutOf(file: BoxFile): Promise<AvifLayout> {
  const { size } = file.source
  const walked = await boxesIn(file, { start: 0, end: size }, size)
  if (walked.broken && KNOWN_TYPES.has(walked.broken.type)) refuse('it is cut off')
  const [first] = walked.boxes
  if (first?.type !== 'ftyp' || first.end > MAX_BRANDS_BYTES) return refuse('it does not start with ftyp')
  const brands = await readRun(file, first)
  if (!namesAvif(brandsOf(brands))) {
    throw new Refusal('unsupported-type', 'The file is not an AVIF image.')
  }
  // A second file type starts a second file, e.g. the film of a motion photo.
  const second = walked.boxes.findIndex(({ type }, index) => index > 0 && type === 'ftyp')
  const boxes = second < 0 ? walked.boxes : walked.boxes.slice(0, second)
  return {
    boxes,
    meta: only(boxes, 'meta'),
    moov: only(boxes, 'moov'),
    data: boxes.flatMap((box) => {
      const { type, body, end } = box
      if (type === 'mdat') return { box, start: body, end }
      // An `imda` box starts with its own id.
      return type === 'imda' ? { box, start: Math.min(end, body + 4), end } : []
    }),
    edits: brandEdits(brands),
  }
}

function only(boxes: Box[], type: string): Box | null {
  const [box, ...others] = boxes.filter((box) => box.type === type)
  return others.length > 0 ? refuse(`it has two ${type} boxes`) : (box ?? null)
}
