/** Wraps an R2 binding: classifies errors and retries transient ones. */
import { backoffMs, sleep } from '../../async.ts'
import { MARKER_NAME, RELEASE_NAME } from '../bucket/markers.ts'
import { decodeRecord, RECORD_NAME } from '../bucket/record.ts'
import type { ObjectHead } from '../bucket/store.ts'
import { StoreUnavailable } from '../object-store.ts'
import type { R2Bucket, R2Conditional, R2Object, R2ObjectBody, R2PutOptions, R2Value } from './binding.ts'

export interface Put extends R2PutOptions {
  key: string
  /** Called once per attempt. */
  send(put: (value: R2Value) => Promise<R2Object | null>): Promise<R2Object | null>
}

export type Bucket = ReturnType<typeof openBucket>

/**
 * Cloudflare R2, "Error codes": internal error, service unavailable, client disconnect, and too many requests for one key
 * (R2 allows one write per second and key). And what the runtime throws when R2 gave no answer (Cloudflare Workers, "Errors
 * and exceptions").
 */
const TRANSIENT = /\((0|10001|10043|10054|10058)\)|Network connection lost|internal error/

/** The bytes do not match the announced length or digest. */
const WRONG_BYTES = /\((10014|10037)\)/

const ATTEMPTS = 5

/** Minimum first delay; doubles each time. The sum exceeds the second that R2 requires between writes to a key. */
const PAUSE_MS = 100
const MAX_PAUSE_MS = 5000

export function openBucket(
  binding: R2Bucket,
  { pageKeys = 1000, pauseMs = PAUSE_MS }: { pageKeys?: number; pauseMs?: number } = {},
) {
  /** Throws `StoreUnavailable`. */
  async function withRetries<T>(run: (isRetried: boolean) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await run(attempt > 1)
      } catch (error) {
        if (error instanceof TypeError || WRONG_BYTES.test(messageOf(error))) throw error
        if (attempt === ATTEMPTS || !TRANSIENT.test(messageOf(error)))
          throw new StoreUnavailable({ cause: error })
      }
      await sleep(backoffMs(attempt, { firstMs: pauseMs, maxMs: MAX_PAUSE_MS }))
    }
  }

  return {
    head: (key: string) => withRetries(() => binding.head(key)),

    /** `null` if the object is missing or has another ETag. */
    async get(
      key: string,
      etag?: string,
      range?: { offset: number; length: number },
    ): Promise<R2ObjectBody | null> {
      const onlyIf: R2Conditional | undefined = etag === undefined ? undefined : { etagMatches: etag }
      const found = await withRetries(() =>
        binding.get(key, { ...(onlyIf && { onlyIf }), ...(range && { range }) }),
      )
      return found !== null && 'arrayBuffer' in found ? found : null
    },

    /** `stored`: the new object; `null` if the condition was not met. */
    put: ({ key, send, ...options }: Put) =>
      withRetries(async (isRetried) => {
        const stored = await send((value) => binding.put(key, value, options))
        return { isDone: stored !== null, isRetried, stored }
      }),

    delete: (key: string) => withRetries(() => binding.delete(key)),

    /** Objects directly below the prefix, in ascending order of code units. */
    async *list(prefix: string, after = ''): AsyncGenerator<R2Object> {
      let cursor: string | undefined
      do {
        const from = cursor === undefined ? after !== '' && { startAfter: prefix + after } : { cursor }
        const page = await withRetries(() =>
          binding.list({ prefix, limit: pageKeys, delimiter: '/', include: ['customMetadata'], ...from }),
        )
        yield* page.objects
        cursor = page.truncated ? page.cursor : undefined
      } while (cursor !== undefined)
    },
  }
}

/** `now`: epoch milliseconds. */
export function headOf({ etag, uploaded, customMetadata = {} }: R2Object, now = Date.now()): ObjectHead {
  return {
    etag,
    marker: customMetadata[MARKER_NAME] ?? null,
    release: customMetadata[RELEASE_NAME] ?? null,
    ageMs: now - uploaded.getTime(),
    record: (id) => decodeRecord(id, customMetadata[RECORD_NAME] ?? null),
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
