/**
 * Evidence of child abuse: a removed image is encrypted to the operator's offline public key and kept for a year
 * (18 USC 2258A(h)). The server cannot decrypt it. Each sealed box is a file next to the images, without a URL or listing.
 */
import { createSemaphore } from '../../async.ts'
import type { Files } from '../../stores/files.ts'
import type { Actor, Ledger } from '../../stores/ledger.ts'
import {
  chunksOf,
  DamagedObject,
  type ImageRecord,
  type ObjectStore,
  openAnywhere,
  storedSize,
} from '../../stores/object-store.ts'
import { DAY_MS, utcDayOf } from '../../utc-day.ts'
import type { Seal } from './sealing.ts'

export interface Evidence {
  /**
   * Seals an image together with its record and reports. Durable when it resolves. Does nothing if the image is absent or
   * damaged.
   */
  keep(id: string, act: { reason: string; by: Actor }): Promise<void>
  /** Deletes the evidence of an image whose removal was undone. */
  discard(id: string): Promise<void>
  /** Deletes evidence older than a year. `earliest`: lower bound of the current time, epoch milliseconds. */
  forget(earliest: number): Promise<void>
}

/** The only category for which evidence is kept. */
export const SEALED_RULE = 'child-abuse'

/** 18 USC 2258A(h)(1). */
const KEPT_DAYS = 365

const MAX_REPORTS = 100

/** The last day on which it is kept, and the image's ID. */
const NAME_PATTERN = /^(\d{4}-\d\d-\d\d)-([0-9A-Za-z]{11})\.sealed$/

/** Whether a box has expired on this day, YYYY-MM-DD. `false` for files that are not boxes. */
export function isExpired(name: string, day: string): boolean {
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
  // One at a time, as a whole box is held in memory. On Workers, one at a time within a request.
  const semaphore = createSemaphore(1)

  async function keep(id: string, { reason, by }: { reason: string; by: Actor }): Promise<void> {
    const image = await openAnywhere(objects, id, 'stored')
    if (image === null) return
    try {
      const { record } = image
      const at = new Date(now()).toISOString()
      const reports = await ledger.reportsOf(id, MAX_REPORTS)
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
          // A damaged image cannot be sealed.
          if (!(error instanceof DamagedObject)) throw error
        }),
      ),
    async discard(id) {
      for (const name of await files.names())
        if (NAME_PATTERN.exec(name)?.[2] === id) await files.remove(name)
    },
    async forget(at) {
      if (!Number.isFinite(at)) return
      for (const name of await files.names()) if (isExpired(name, utcDayOf(at))) await files.remove(name)
    },
  }
}

/** The header before the image in a box: JSON and a zero byte. */
function headOf(facts: object): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(facts, null, 2)}\0`)
}

async function* withHead(
  head: Uint8Array,
  body: Uint8Array | ReadableStream<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield head
  yield* chunksOf(body)
}

/** Parses an opened box: the facts, including the record, and the stored bytes of the image and its preview. */
export function readOpened(plain: Uint8Array): { facts: { record: ImageRecord }; bytes: Uint8Array } {
  const end = plain.indexOf(0)
  if (end < 0) throw new Error('this evidence was sealed by a different program')
  return {
    facts: JSON.parse(new TextDecoder().decode(plain.subarray(0, end))),
    bytes: plain.subarray(end + 1),
  }
}
