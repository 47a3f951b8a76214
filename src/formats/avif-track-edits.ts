/** Blanks what is private in a `moov` box, where it is: nothing in it changes its length. */
import { type Movie, SAMPLE_ENTRY_BYTES, sampleEntries } from './avif-tracks.ts'
import { blank, type Edit, isFree } from './bmff-edits.ts'
import { type Box, type Fields, isZero } from './bmff-fields.ts'

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
  const kept = new Set(tracks.map(({ box }) => box.start))
  const ids = new Set(tracks.map(({ id }) => id))
  return childEdits(fields, box, (child) => child.type !== 'trak' || kept.has(child.start), ids)
}

function childEdits(fields: Fields, parent: Box, keeps: (child: Box) => boolean, ids: Set<number>): Edit[] {
  const inner = parent.type === 'av01' ? parent.start + SAMPLE_ENTRY_BYTES : parent.body
  const edits: Edit[] = []
  for (const child of fields.within(inner, parent.end).boxes()) {
    if (!KEPT_CHILDREN[parent.type]!.has(child.type) || !keeps(child)) {
      const body = fields.bodyOf(child)
      if (!isFree(child) || !isZero(body.take(body.left))) edits.push(...blank(child))
    } else if (child.type === 'stsd') {
      for (const entry of sampleEntries(fields, child))
        edits.push(...childEdits(fields, entry, () => true, ids))
    } else if (child.type === 'tref') {
      edits.push(...referenceEdits(fields, child, ids))
    } else if (DATED.has(child.type)) {
      edits.push(...dateEdits(fields, child))
    } else if (child.type in KEPT_CHILDREN) {
      edits.push(...childEdits(fields, child, () => true, ids))
    }
  }
  return edits
}

/** Creation and modification time (14496-12, 8.2.2); 0 is no time. */
function dateEdits(fields: Fields, box: Box): Edit[] {
  const body = fields.bodyOf(box)
  const length = body.versionAndFlags().version === 1 ? 16 : 8
  const start = body.at
  return isZero(body.take(length)) ? [] : [{ start, end: start + length }]
}

/** References to tracks that are not kept (14496-12, 8.3.3). */
function referenceEdits(fields: Fields, references: Box, ids: Set<number>): Edit[] {
  const edits: Edit[] = []
  for (const reference of fields.bodyOf(references).boxes()) {
    const body = fields.bodyOf(reference)
    let keeps = isFree(reference) && isZero(body.take(body.left))
    while (body.left > 0 && !keeps) keeps = ids.has(body.u32())
    if (!keeps) edits.push(...blank(reference))
  }
  return edits
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '))
}
