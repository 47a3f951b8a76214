/** Images, and all others of the same bytes. There is no index of digests: each record is read. */
import { Option } from 'commander'
import type { ObjectStore } from '../../../stores/object-store.ts'
import { createProgress } from '../data/progress.ts'
import { select } from '../data/selection.ts'

export function doublesOption(): Option {
  return new Option('--doubles', 'and all images of the same bytes; reads every record').default(false)
}

/** Each once. */
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
