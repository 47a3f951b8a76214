/** Ids, and those of the same uploaders. */
import { Option } from 'commander'
import type { Takedown } from '../../../service/moderation/takedown.ts'

export function sameUploaderOption(): Option {
  return new Option('--same-uploader', 'and what the same uploader stored in the two days').default(false)
}

/** Each once. */
export async function withOthers(
  takedown: Takedown,
  ids: string[],
  options: { sameUploader: boolean },
): Promise<string[]> {
  if (!options.sameUploader) return ids
  const others = await Promise.all(ids.map((id) => takedown.sameUploader(id)))
  return [...new Set([...ids, ...others.flat()])]
}
