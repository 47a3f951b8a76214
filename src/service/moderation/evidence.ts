/**
 * Evidence of child abuse: a removed image is encrypted to the operator's offline public key and kept for a year
 * (18 USC 2258A(h)). The server can't decrypt it. Each box is a file beside the images; it has no URL and is in no listing.
 */
import { createSemaphore } from '../../async.ts'
import type { Files } from '../../stores/files.ts'
import type { Actor, Ledger } from '../../stores/ledger.ts'
import {
  DamagedObject,
  type ImageRecord,
  type ObjectStore,
  openAnywhere,
  piecesOf,
  storedSize,
} from '../../stores/object-store.ts'
import { DAY_MS, utcDayOf } from '../utc-day.ts'
import type { Seal } from './sealing.ts'

export interface Evidence {
  /** Seals an image with its record and what is known of it. Durable when it resolves; nothing if there is none to read. */
  keep(id: string, act: { reason: string; by: Actor }): Promise<void>
  /** Removes what is older than a year. `earliest`: the earliest that the time may be, epoch milliseconds. */
  forget(earliest: number): Promise<void>
}

/** The one category that is sealed. */
export const SEALED_RULE = 'child-abuse'

/** 18 USC 2258A(h)(1). */
export const KEPT_DAYS = 365

const SHOWN_REPORTS = 100

/** The day from which on it is gone, and the id of its image. */
const NAME_PATTERN = /^(\d{4}-\d\d-\d\d)-([0-9A-Za-z]{11})\.sealed$/

/** Whether a box is older than a year on this day, YYYY-MM-DD. What is no box never is. */
export function isOver(name: string, day: string): boolean {
  const until = NAME_PATTERN.exec(name)?.[1]
  return until !== undefined && until < day
}

export function createEvidence(parts: {
  seal: Seal
  files: Files
  objects: ObjectStore
  ledger: Pick<Ledger, 'reportsOf'>
  now: () => number
}): Evidence {
  const { seal, files, objects, ledger, now } = parts
  // A box is whole in memory.
  const semaphore = createSemaphore(1)

  async function keep(id: string, { reason, by }: { reason: string; by: Actor }): Promise<void> {
    const image = await openAnywhere(objects, id, 'stored')
    if (image === null) return
    try {
      const { record } = image
      const at = new Date(now()).toISOString()
      const reports = await ledger.reportsOf(id, SHOWN_REPORTS)
      const head = headOf({ record, removed: { at, reason, ...by }, reports })
      const box = await seal(withHead(head, image.body), head.length + storedSize(record))
      await files.make()
      await files.write(`${utcDayOf(now() + KEPT_DAYS * DAY_MS)}-${id}.sealed`, box)
    } finally {
      image.release?.()
    }
  }

  return {
    keep: (id, act) =>
      semaphore.run(() =>
        keep(id, act).catch((error) => {
          // There is nothing to seal.
          if (!(error instanceof DamagedObject)) throw error
        }),
      ),
    async forget(at) {
      if (!Number.isFinite(at)) return
      for (const name of await files.names()) if (isOver(name, utcDayOf(at))) await files.remove(name)
    },
  }
}

/** What a box has before the image: JSON, and a zero byte. */
function headOf(facts: object): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(facts, null, 2)}\0`)
}

async function* withHead(
  head: Uint8Array,
  body: Uint8Array | ReadableStream<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield head
  yield* piecesOf(body)
}

/** What an opened box has: the record with what was known, and the bytes of the image and its preview as they were stored. */
export function readOpened(plain: Uint8Array): { facts: { record: ImageRecord }; bytes: Uint8Array } {
  const end = plain.indexOf(0)
  if (end < 0) throw new Error('this was sealed by another program')
  return {
    facts: JSON.parse(new TextDecoder().decode(plain.subarray(0, end))),
    bytes: plain.subarray(end + 1),
  }
}
