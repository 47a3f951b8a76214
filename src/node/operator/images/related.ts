/** Images that go with those that are named: of the same bytes, or of the same uploader. */
import { Option } from 'commander'
import type { Takedown } from '../../../service/moderation/takedown.ts'
import type { ObjectStore } from '../../../stores/object-store.ts'
import { createProgress } from '../data/progress.ts'
import { type Selection, select } from '../data/selection.ts'

/** Help of commands that take these. */
export const CONDITIONS = `
Instead of ids, conditions: all images that meet them. \`list\` with the same conditions shows which.`

export function doublesOption(): Option {
  return new Option('--doubles', 'and all images of the same bytes; reads every record').default(false)
}

/** The ids, and those of all images of the same bytes, each once. There is no index of digests: every record is read. */
export async function withDoubles(
  objects: ObjectStore,
  ids: string[],
  options: { doubles: boolean },
): Promise<string[]> {
  if (!options.doubles) return ids
  const progress = createProgress()
  const onRead = (count: number) => progress(() => `${count} records read`)
  const digests = new Set<string>()
  for (const id of ids) {
    const record =
      (await objects.head(id).catch(() => null)) ?? (await objects.headHeld(id).catch(() => null))
    if (record !== null) for (const digest of [record.sha256, record.sentSha256]) digests.add(digest)
  }
  const all = new Set(ids)
  for await (const { id, sha256, sentSha256 } of select(objects, {}, onRead)) {
    if (digests.has(sha256) || digests.has(sentSha256)) all.add(id)
  }
  return [...all]
}

export function sameUploaderOption(): Option {
  return new Option('--same-uploader', 'and what the same uploader stored in the two days').default(false)
}

/** The ids, and those of all images of their uploaders, each once. */
export async function withOthers(
  takedown: Takedown,
  ids: string[],
  options: { sameUploader: boolean },
): Promise<string[]> {
  if (!options.sameUploader) return ids
  const others = await Promise.all(ids.map((id) => takedown.sameUploader(id)))
  return [...new Set([...ids, ...others.flat()])]
}

/** The ids, or those of all images that meet the conditions; and those of the same bytes if asked for. */
export async function subjectsOf(
  ids: string[],
  options: Selection & { doubles: boolean },
  objects: ObjectStore,
): Promise<string[]> {
  const subjects = [...ids]
  const progress = createProgress()
  const onRead = (count: number) => progress(() => `${count} records read`)
  if (ids.length === 0) for await (const { id } of select(objects, options, onRead)) subjects.push(id)
  return withDoubles(objects, subjects, options)
}
