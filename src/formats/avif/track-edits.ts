/** Takes what is private out of a `moov` box: blanks it where it is, or cuts it out if no image byte follows. */
import { addInto, blankInto, cut, type Edit, isFree, resize, zeroInto } from '../bmff/edits.ts'
import { type Box, type Fields, isZero, refuse } from '../bmff/fields.ts'
import { isUnfit, KEPT_CHILDREN, spareEdits } from './box-rules.ts'
import { type Movie, SAMPLE_ENTRY_BYTES, sampleEntries } from './tracks.ts'

/** A film has tracks; a sample entry may have code points beside a profile. Of any other box decoders read one, and not all the same. */
const REPEATED: ReadonlySet<string> = new Set(['trak', 'colr'])

/** Edits for a movie of which some track is kept. `isLast`: no image byte follows. */
export function movieEdits({ box, fields, tracks }: Movie, isLast: boolean): Edit[] {
  const keptTracks = new Set(tracks.map(({ box }) => box.start))
  const ids = new Set(tracks.map(({ id }) => id))
  const edits: Edit[] = []
  const shrunk = new Map<Box, number>()

  /** `around`: the boxes that the child is in. */
  const remove = (child: Box, around: Box[]): void => {
    if (isLast) {
      addInto(edits, cut(child))
      for (const one of around) shrunk.set(one, (shrunk.get(one) ?? 0) + child.end - child.start)
    } else if (!isFree(child) || !isZero(fields.bodyOf(child).rest())) blankInto(edits, child)
  }

  const visit = (around: Box[], parent: Box): void => {
    const inside = [...around, parent]
    const kept = KEPT_CHILDREN[parent.type]
    const seen = new Set<string>()
    const inner = parent.type === 'av01' ? parent.start + SAMPLE_ENTRY_BYTES : parent.body
    for (const child of fields.within(inner, parent.end).boxes()) {
      const { type } = child
      const isGone = type === 'trak' ? !keptTracks.has(child.start) : isUnfit(type, fields.bodyOf(child))
      if (!kept?.has(type) || isGone) {
        remove(child, inside)
        continue
      }
      if (seen.has(type) && !REPEATED.has(type)) refuse(`it has two ${type} boxes in one ${parent.type}`)
      seen.add(type)
      edits.push(...spareEdits(fields, child))
      if (type === 'stsd') {
        for (const entry of sampleEntries(fields, child)) {
          edits.push(...spareEdits(fields, entry))
          visit([...inside, child], entry)
        }
      } else if (type === 'tref') {
        for (const reference of fields.bodyOf(child).boxes()) {
          if (!keepsReference(fields.bodyOf(reference), reference, ids)) blankInto(edits, reference)
          else zeroStrangers(edits, fields, reference, ids)
        }
      } else if (type in KEPT_CHILDREN) {
        visit(inside, child)
      }
    }
  }
  visit([], box)
  for (const [one, bytes] of shrunk) edits.push(resize(one, one.end - one.start - bytes))
  return edits
}

/** A reference stays if it names a track that stays (14496-12, 8.3.3). */
function keepsReference(body: Fields, box: Box, ids: Set<number>): boolean {
  if (isFree(box)) return isZero(body.rest())
  while (body.left >= 4) if (ids.has(body.u32())) return true
  return false
}

/** Numbers of tracks that are not there, or no longer. */
function zeroStrangers(edits: Edit[], fields: Fields, box: Box, ids: Set<number>): void {
  const body = fields.bodyOf(box)
  while (body.left >= 4) {
    const id = body.u32()
    if (id !== 0 && !ids.has(id)) zeroInto(edits, { start: body.at - 4, end: body.at })
  }
}
