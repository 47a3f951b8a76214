/** Puts a sound image in place of a damaged one, on condition that this is still the one that was read. */

import type { Segment } from '../../formats/image.ts'
import { type ImageRecord, StoreUnavailable } from '../object-store.ts'
import { errorOf } from './answer.ts'
import type { S3Client } from './client.ts'
import { bodyOf, type DraftBytes, headersOf } from './commit.ts'
import { headObject, heldCopyOf } from './head.ts'
import { heldFolder } from './hold.ts'
import type { Overwrite } from './overwrite.ts'

/** Each round is lost only to somebody else who moves or removes the same image. */
const MAX_ROUNDS = 5

export async function replaceObject(
  { client, overwrite, prefix }: { client: S3Client; overwrite: Overwrite; prefix: string },
  { record, draft, segments }: { record: ImageRecord; draft: DraftBytes; segments: Segment[] },
): Promise<'visible' | 'held' | null> {
  const key = prefix + record.id
  const headers = headersOf(record)
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const found = await headObject(client, key)
    if (found === null) return null
    const body = await bodyOf(draft, segments)
    const copyName = heldCopyOf(found)
    if (copyName !== null) {
      // A copy that no tombstone names any more is nobody's image, and is cleared away.
      const doing = 'PUT a held image anew'
      const { failure } = await client.ask({
        method: 'PUT',
        key: heldFolder(prefix) + copyName,
        headers,
        body,
        doing,
      })
      if (failure !== null) throw errorOf(failure, doing)
      return 'held'
    }
    if (found.tombstone !== null) return null
    const doing = 'PUT an image anew'
    const { outcome, isRepeated } = await overwrite(found.etag, { key, headers, body, doing })
    if (outcome === 'done') return 'visible'
    if (typeof outcome !== 'string') throw errorOf(outcome, doing)
    // A first attempt may have been carried out, and its reply lost: then the next round puts the same once more.
    if (!isRepeated && (await headObject(client, key)) === null) return null
  }
  throw new StoreUnavailable({ cause: new Error('others kept changing the image that was to be replaced') })
}
