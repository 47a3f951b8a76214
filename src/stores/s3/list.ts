/** Lists ids, page by page (ListObjectsV2). */
import { ID_PATTERN } from '../../protocol.ts'
import { errorOf } from './answer.ts'
import type { S3Client } from './client.ts'
import { headObject } from './head.ts'
import { RETIRED_MD5, TOMBSTONE } from './removal.ts'
import { elementsOf, textOf } from './xml.ts'

const doing = 'LIST images'

export async function* listIds(
  client: S3Client,
  prefix: string,
  pageKeys: number,
  after: string,
): AsyncGenerator<string> {
  let last = after
  for await (const { key, size, etag } of listKeys(client, prefix, pageKeys, startOf(after))) {
    const id = key.slice(prefix.length)
    if (!ID_PATTERN.test(id) || id <= after) continue
    if (id <= last) throw new Error('the object store does not list keys in order, which Pinhole needs')
    last = id
    if (size === TOMBSTONE.length && (isRetiredTombstone(etag) || (await isTombstone(client, key)))) continue
    yield id
  }
}

/** Every id that sorts after `after` sorts after its longest beginning that an id could have. */
function startOf(after: string): string {
  return /^[0-9A-Za-z]{0,11}/.exec(after)![0]
}

/** Its bytes are no image. They are many after years, and looking at each would cost a listing a request. */
function isRetiredTombstone(etag: string): boolean {
  return etag.replaceAll('"', '') === RETIRED_MD5
}

async function isTombstone(client: S3Client, key: string): Promise<boolean> {
  const found = await headObject(client, key)
  return found === null || found.tombstone !== null
}

export async function* listKeys(
  client: S3Client,
  prefix: string,
  pageKeys: number,
  start: string,
): AsyncGenerator<{ key: string; size: number; etag: string; modifiedAt: number }> {
  let token: string | null = null
  do {
    const query: Record<string, string> = { 'list-type': '2', 'max-keys': String(pageKeys), prefix }
    // Whatever else is in the bucket below a folder of its own is one entry, not a thousand.
    query.delimiter = '/'
    if (token !== null) query['continuation-token'] = token
    else if (start !== '') query['start-after'] = prefix + start
    const { value, failure } = await client.ask({ method: 'GET', query, doing })
    if (failure !== null) throw errorOf(failure, doing)
    const page = value!
    for (const entry of elementsOf(page, 'Contents')) {
      const modifiedAt = Date.parse(textOf(entry, 'LastModified') ?? '')
      yield {
        key: textOf(entry, 'Key') ?? '',
        size: Number(textOf(entry, 'Size')),
        etag: textOf(entry, 'ETag') ?? '',
        modifiedAt,
      }
    }
    token = textOf(page, 'NextContinuationToken')
    if (token === null && textOf(page, 'IsTruncated') === 'true') {
      throw new Error('the object store cut a listing short and does not say how to go on')
    }
  } while (token !== null)
}

/** Throws unless these keys may list. */
export async function assertListable(client: S3Client, prefix: string): Promise<void> {
  const query = { 'list-type': '2', 'max-keys': '1', prefix }
  const request = { method: 'GET', query, doing: 'LIST one image' } as const
  const { failure } = await client.ask(request)
  if (failure !== null) throw errorOf(failure, request.doing)
}
