/** Removes private data from a `moov` box: blanks it in place, or cuts it out if no image byte follows. */
import { addBlank, addEdit, addZeros, cut, type Edit, isFree, resize } from '../bmff/edits.ts'
import { type Box, type Fields, isZero, refuse } from '../bmff/fields.ts'
import { ignoredByteEdits, KEPT_CHILDREN, propertyKind } from './box-rules.ts'
import { type Movie, SAMPLE_ENTRY_BYTES, sampleEntries, unusedEntryEdits } from './tracks.ts'

/** Edits for a movie with at least one kept track. `isLast`: no image byte follows. */
export function movieEdits({ box, fields, tracks }: Movie, isLast: boolean): Edit[] {
  const keptTracks = new Set(tracks.map(({ box }) => box.start))
  const ids = new Set(tracks.map(({ id }) => id))
  const edits: Edit[] = []
  const shrunk = new Map<Box, number>()

  /** `around`: the enclosing boxes. */
  const remove = (child: Box, around: Box[]): void => {
    if (isLast) {
      addEdit(edits, cut(child))
      for (const one of around) shrunk.set(one, (shrunk.get(one) ?? 0) + child.end - child.start)
    } else if (!isFree(child) || !isZero(fields.bodyOf(child).rest())) addBlank(edits, child)
  }

  const visit = (around: Box[], parent: Box): void => {
    const inside = [...around, parent]
    const kept = KEPT_CHILDREN[parent.type]
    const seen = new Set<string>()
    const inner = parent.type === 'av01' ? parent.start + SAMPLE_ENTRY_BYTES : parent.body
    for (const child of fields.within(inner, parent.end).boxes()) {
      const { type } = child
      const kind = propertyKind(type, fields.bodyOf(child))
      if (!kept?.has(type) || kind === null || (type === 'trak' && !keptTracks.has(child.start))) {
        remove(child, inside)
        continue
      }
      // Decoders disagree on which one counts. A `colr` with a profile may stand beside one with code points.
      if (seen.has(kind) && type !== 'trak') refuse(`it has two ${type} boxes in one ${parent.type}`)
      seen.add(kind)
      edits.push(...ignoredByteEdits(fields, child))
      if (type === 'stsd') {
        for (const entry of sampleEntries(fields, child)) {
          edits.push(...ignoredByteEdits(fields, entry))
          visit([...inside, child], entry)
        }
      } else if (type === 'tref') {
        for (const reference of fields.bodyOf(child).boxes()) {
          if (!referencesKeptTrack(fields.bodyOf(reference), reference, ids)) addBlank(edits, reference)
          else zeroUnknownIds(edits, fields, reference, ids)
        }
      } else if (type in KEPT_CHILDREN) {
        visit(inside, child)
      }
    }
  }
  visit([], box)
  for (const track of tracks) edits.push(...unusedEntryEdits(fields, track))
  for (const [one, bytes] of shrunk) edits.push(resize(one, one.end - one.start - bytes))
  return edits
}

/** True if a track reference contains a kept track (14496-12, 8.3.3). */
function referencesKeptTrack(body: Fields, box: Box, ids: Set<number>): boolean {
  if (isFree(box)) return isZero(body.rest())
  while (body.left >= 4) if (ids.has(body.u32())) return true
  return false
}

/** Zeroes the IDs of removed or nonexistent tracks. */
function zeroUnknownIds(edits: Edit[], fields: Fields, box: Box, ids: Set<number>): void {
  const body = fields.bodyOf(box)
  while (body.left >= 4) {
    const id = body.u32()
    if (id !== 0 && !ids.has(id)) addZeros(edits, { start: body.at - 4, end: body.at })
  }
}
