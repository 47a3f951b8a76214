/** A bucket whose faults are told apart, and whose passing ones are tried again. */
import { backoffMs, sleep } from '../../async.ts'
import { MARKER_NAME, RELEASE_NAME } from '../bucket/markers.ts'
import { decodeRecord, RECORD_NAME } from '../bucket/record.ts'
import type { Found } from '../bucket/store.ts'
import { StoreUnavailable } from '../object-store.ts'
import type { R2Bucket, R2Conditional, R2Object, R2ObjectBody, R2PutOptions, R2Value } from './binding.ts'

export interface Put extends R2PutOptions {
  key: string
  /** Called for each attempt. */
  send(put: (value: R2Value) => Promise<R2Object | null>): Promise<R2Object | null>
}

export type Bucket = ReturnType<typeof openBucket>

/**
 * Cloudflare R2, "Error codes": internal error, service unavailable, client disconnect, and too many requests for one key,
 * which takes one write a second.
 */
const PASSING = /\((10001|10043|10054|10058)\)/

/** The bytes are not those that were announced. */
const WRONG_BYTES = /\((10014|10037)\)/

const ATTEMPTS = 5

/** Doubles each time: together longer than the second that a key asks between two writes. */
const PAUSE_MS = 100
const MAX_PAUSE_MS = 5000

export function openBucket(
  binding: R2Bucket,
  { pageKeys = 1000, pauseMs = PAUSE_MS }: { pageKeys?: number; pauseMs?: number } = {},
) {
  /** Throws `StoreUnavailable`. */
  async function trying<T>(run: (isRepeated: boolean) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await run(attempt > 1)
      } catch (error) {
        if (error instanceof TypeError || WRONG_BYTES.test(messageOf(error))) throw error
        if (attempt === ATTEMPTS || !PASSING.test(messageOf(error)))
          throw new StoreUnavailable({ cause: error })
      }
      await sleep(backoffMs(attempt, { firstMs: pauseMs, maxMs: MAX_PAUSE_MS }))
    }
  }

  return {
    head: (key: string) => trying(() => binding.head(key)),

    /** `null` if there is none, or not the one of this ETag. */
    async get(
      key: string,
      etag?: string,
      range?: { offset: number; length: number },
    ): Promise<R2ObjectBody | null> {
      const onlyIf: R2Conditional | undefined = etag === undefined ? undefined : { etagMatches: etag }
      const found = await trying(() =>
        binding.get(key, { ...(onlyIf && { onlyIf }), ...(range && { range }) }),
      )
      return found !== null && 'arrayBuffer' in found ? found : null
    },

    /** `stored`: what is there since; `null` if the condition was not met. */
    put: ({ key, send, ...options }: Put) =>
      trying(async (isRepeated) => {
        const stored = await send((value) => binding.put(key, value, options))
        return { isDone: stored !== null, isRepeated, stored }
      }),

    delete: (key: string) => trying(() => binding.delete(key)),

    /** Objects in ascending order of code units, without those of folders below the prefix. */
    async *list(prefix: string, after = ''): AsyncGenerator<R2Object> {
      let cursor: string | undefined
      do {
        const from = cursor === undefined ? after !== '' && { startAfter: prefix + after } : { cursor }
        const page = await trying(() =>
          binding.list({ prefix, limit: pageKeys, delimiter: '/', include: ['customMetadata'], ...from }),
        )
        yield* page.objects
        cursor = page.truncated ? page.cursor : undefined
      } while (cursor !== undefined)
    },
  }
}

/** `now`: epoch milliseconds. */
export function foundIn({ etag, uploaded, customMetadata = {} }: R2Object, now = Date.now()): Found {
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
