/** The top-level structure of an AVIF file: metadata and data boxes. */
import { Refusal } from '../../errors.ts'
import type { Edit } from '../bmff/edits.ts'
import { type Box, type Run, refuse } from '../bmff/fields.ts'
import { type BoxFile, boxesIn, readRun } from '../bmff/file.ts'
import { brandEdits, brandsOf, namesAvif } from './brands.ts'

/** The contents of a data box. */
interface DataRegion extends Run {
  box: Box
}

export interface AvifLayout {
  boxes: Box[]
  meta: Box | null
  moov: Box | null
  /** Regions that may hold image data: `mdat` and `imda` (14496-12, 8.1.1 and 8.1.4). */
  data: DataRegion[]
  /** Edits of the file type box. */
  edits: Edit[]
}

/** A known box that exceeds the file means that the file is truncated. Anything else at the end is trailing garbage. */
const KNOWN_TYPES: ReadonlySet<string> = new Set(
  'ftyp meta moov mdat imda free skip wide uuid udta moof mfra sidx ssix styp prft pdin emsg meco mpvd'.split(
    ' ',
  ),
)

/** Size limit for the file type box. Four brands are usual. Unit: bytes. */
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
  // A second `ftyp` starts another file, e.g. the video of a motion photo.
  const second = walked.boxes.findIndex(({ type }, index) => index > 0 && type === 'ftyp')
  const boxes = second < 0 ? walked.boxes : walked.boxes.slice(0, second)
  return {
    boxes,
    meta: singleBox(boxes, 'meta'),
    moov: singleBox(boxes, 'moov'),
    data: boxes.flatMap((box) => {
      const { type, body, end } = box
      if (type === 'mdat') return { box, start: body, end }
      // An `imda` box starts with its ID.
      return type === 'imda' ? { box, start: Math.min(end, body + 4), end } : []
    }),
    edits: brandEdits(brands),
  }
}

function singleBox(boxes: Box[], type: string): Box | null {
  const [box, ...others] = boxes.filter((box) => box.type === type)
  return others.length > 0 ? refuse(`it has two ${type} boxes`) : (box ?? null)
}
