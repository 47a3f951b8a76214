/** Puts an object over another one, on condition that it is still the one that was read. */
import type { Failure } from './answer.ts'
import type { S3Client, S3Request } from './client.ts'

/** `changed`: the object is another one now, or gone. */
export type Overwritten = 'done' | 'changed' | Failure

export type Overwrite = (
  etag: string,
  request: Pick<S3Request, 'body' | 'doing'> & { key: string; headers: Record<string, string> },
) => Promise<{ outcome: Overwritten; isRepeated: boolean }>

export function createOverwrite(client: S3Client): Overwrite {
  // RFC 9110 quotes an ETag. Ceph RGW compares that of a put with a bare one: seen with version 16.
  let spelling: 'quoted' | 'bare' | null = null

  return async (etag, request) => {
    let isRepeated = false
    for (const tried of spelling === null ? (['quoted', 'bare'] as const) : [spelling]) {
      const match = tried === 'bare' ? etag.replaceAll('"', '') : etag
      const headers = { ...request.headers, 'if-match': match }
      const answer = await client.ask({ ...request, headers, method: 'PUT' })
      const { failure } = answer
      isRepeated ||= answer.isRepeated
      if (failure === null) {
        spelling = tried
        return { outcome: 'done', isRepeated }
      }
      // Amazon answers 404 where there is nothing to match, others 412.
      if (failure.code === 'NoSuchKey') break
      if (failure.status !== 412) return { outcome: failure, isRepeated }
    }
    return { outcome: 'changed', isRepeated }
  }
}
