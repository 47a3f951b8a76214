/** Blanks what is private in a `moov` box, where it is: nothing in it changes its length. */

import { blankInto, type Edit, isFree } from '../bmff/edits.ts'
import { type Box, type Fields, isZero } from '../bmff/fields.ts'
import { type Movie, SAMPLE_ENTRY_BYTES, sampleEntries } from './tracks.ts'

/** What a box keeps of its children. Anything else is blanked: `udta`, `meta`, `uuid`, boxes nobody has heard of. */
const KEPT_CHILDREN: Record<string, ReadonlySet<string>> = {
  moov: words('mvhd trak'),
  trak: words('tkhd tref trgr edts mdia'),
  edts: words('elst'),
  mdia: words('mdhd hdlr minf'),
  minf: words('vmhd nmhd dinf stbl'),
  stbl: words(
    'stsd stts ctts cslg stsc stsz stz2 stco co64 stss stsh sdtp stdp padb sbgp sgpd subs saiz saio',
  ),
  av01: words(
    'av1C colr pasp clap clli mdcv cclv amve reve ndwt ccst auxi auxC btrt fiel irot imir CoLL SmDm',
  ),
}

/** Headers that say when the file was made and changed. */
const DATED: ReadonlySet<string> = words('mvhd tkhd mdhd')

/** Edits for a movie of which some track is kept. */
export function movieEdits({ box, fields, tracks }: Movie): Edit[] {
  const keptTracks = new Set(tracks.map(({ box }) => box.start))
  const ids = new Set(tracks.map(({ id }) => id))
  const edits: Edit[] = []

  const visit = (parent: Box): void => {
    const inner = parent.type === 'av01' ? parent.start + SAMPLE_ENTRY_BYTES : parent.body
    for (const child of fields.within(inner, parent.end).boxes()) {
      const { type } = child
      if (!KEPT_CHILDREN[parent.type]!.has(type) || (type === 'trak' && !keptTracks.has(child.start))) {
        if (!isFree(child) || !isZero(fields.bodyOf(child).rest())) blankInto(edits, child)
      } else if (type === 'stsd') {
        for (const entry of sampleEntries(fields, child)) visit(entry)
      } else if (type === 'tref') {
        for (const reference of fields.bodyOf(child).boxes()) {
          if (!keepsReference(fields.bodyOf(reference), reference, ids)) blankInto(edits, reference)
        }
      } else if (DATED.has(type)) {
        dateInto(edits, fields.bodyOf(child))
      } else if (type in KEPT_CHILDREN) {
        visit(child)
      }
    }
  }
  visit(box)
  return edits
}

/** Zeros creation and modification time (14496-12, 8.2.2), which then are unknown. */
function dateInto(edits: Edit[], body: Fields): void {
  const length = body.versionAndFlags().version === 1 ? 16 : 8
  const start = body.at
  if (!isZero(body.take(length))) edits.push({ start, end: start + length })
}

/** A reference stays if it names a track that stays (14496-12, 8.3.3). */
function keepsReference(body: Fields, box: Box, ids: Set<number>): boolean {
  if (isFree(box)) return isZero(body.rest())
  while (body.left > 0) if (ids.has(body.u32())) return true
  return false
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '))
}
