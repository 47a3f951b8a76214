/**
 * Tombstones as they are kept in the second place. A file has a line for each, with a checksum of its own, so that a file
 * that is torn or rotten loses no more than the lines that are:
 *
 *     20261122T194500123Z-3fa9c1d2.jsonl    {"at":1795376700123,"order":1,"act":"delete","subject":"…"} 5d41402abc4b2a76
 *     followed.json                         {"until":"2026-11-22T19:45:50.000Z"}
 *     place.json                            {"id":"6f1c9a52-…"}
 *
 * Names sort by time. Lines may come twice, and in any order: `at` and `order` say what came last.
 */
import { forEachConcurrent } from '../../async.ts'
import type { Files } from '../../stores/files.ts'
import type { Tombstone, TombstoneAct } from '../../stores/tombstones.ts'
import type { Hashes } from '../hashes.ts'

/** Every change before its `until` is in the files beside it. */
const FOLLOWED = 'followed.json'

/** Which place this is: a folder of the same name may be on another disk. */
const IDENTITY = 'place.json'

const NAME = /^\d{8}T\d{9}Z-[0-9a-f]{8}(-merged)?\.jsonl$/

const ACTS: readonly string[] = [
  'delete',
  'remove',
  'hold',
  'release',
  'block',
  'unblock',
] satisfies TombstoneAct[]

export function isTombstoneAct(act: string): act is TombstoneAct {
  return ACTS.includes(act)
}

const CHECKSUM_DIGITS = 16

/** Files that are read at once. */
const READ_AT_ONCE = 16

/** Files are merged once there are this many, and this many at a time: a restore reads each. */
const MERGED_AT_ONCE = 500

/** What one file of merged lines may have. Unit: bytes. */
const MERGED_BYTES = 8 * 1024 * 1024

/** A file that is younger may be another process's, which wrote it a moment ago. */
const MERGE_AGE_MS = 60 * 60_000

export interface FoundTombstones {
  /** The place's id. `null` if it has none. */
  id: string | null
  tombstones: Tombstone[]
  /** Every change before it is among them. `null` if that is not known. Epoch milliseconds. */
  until: number | null
  /** Names of files with lines that can't be read. */
  damaged: string[]
}

export function createTombstoneFiles(files: Files, hashes: Pick<Hashes, 'sha256'>) {
  const checksum = (text: string) => hashes.sha256(text).slice(0, CHECKSUM_DIGITS)

  function lineOf({ at, order, act, subject, rule, digests }: Tombstone): string {
    const text = JSON.stringify({ at, order, act, subject, ...(rule === '' ? {} : { rule }), digests })
    return `${text} ${checksum(text)}\n`
  }

  /** `null`: it is torn or rotten. */
  function tombstoneOf(line: string): Tombstone | null {
    const end = line.lastIndexOf(' ')
    const text = line.slice(0, end)
    if (end < 0 || checksum(text) !== line.slice(end + 1)) return null
    const { at, order, act, subject, rule = '', digests } = JSON.parse(text) as Tombstone & { rule?: string }
    // A newer version may know more.
    return isTombstoneAct(act) ? { at, order, act, subject, rule, ...(digests && { digests }) } : null
  }

  async function readFile(name: string): Promise<{ tombstones: Tombstone[]; isWhole: boolean }> {
    const bytes = await files.read(name)
    // Merged meanwhile: another listing has the file that replaced it.
    if (bytes === null) return { tombstones: [], isWhole: false }
    const lines = new TextDecoder().decode(bytes).split('\n')
    const isEnded = lines.pop() === ''
    const read = lines.map(tombstoneOf)
    const tombstones = read.filter((each) => each !== null)
    return { tombstones, isWhole: isEnded && tombstones.length === lines.length }
  }

  /** `null` if there is no such file. A damaged one says nothing. */
  async function readJson(name: string): Promise<Record<string, unknown> | null> {
    const bytes = await files.read(name)
    if (bytes === null) return null
    try {
      return JSON.parse(new TextDecoder().decode(bytes)) ?? {}
    } catch {
      return {}
    }
  }

  const writeJson = (name: string, value: object) =>
    files.write(name, new TextEncoder().encode(`${JSON.stringify(value)}\n`))

  /** `null` if nobody ever wrote to the place. Epoch milliseconds. */
  async function until(): Promise<number | null> {
    const followed = await readJson(FOLLOWED)
    return followed && (Date.parse(String(followed.until)) || 0)
  }

  /** `null` if it has none yet. */
  async function id(): Promise<string | null> {
    const place = await readJson(IDENTITY)
    return typeof place?.id === 'string' ? place.id : null
  }

  return {
    async write(tombstones: readonly Tombstone[], now: number): Promise<void> {
      await files.write(nameOf(now), new TextEncoder().encode(tombstones.map(lineOf).join('')))
    },
    until,
    follow: (until: number) => writeJson(FOLLOWED, { until: new Date(until).toISOString() }),
    id,
    identify: (id: string) => writeJson(IDENTITY, { id }),

    async read(): Promise<FoundTombstones> {
      // Before the files: what is written meanwhile is more, not less.
      const followed = await until()
      const names = (await files.names()).filter((name) => NAME.test(name))
      const found: FoundTombstones = { id: await id(), tombstones: [], until: followed || null, damaged: [] }
      await forEachConcurrent(names, READ_AT_ONCE, async (name) => {
        const { tombstones, isWhole } = await readFile(name)
        for (const each of tombstones) found.tombstones.push(each)
        if (!isWhole) found.damaged.push(name)
      })
      found.damaged.sort()
      return found
    },

    /** Makes one file of many small ones. Killed in the middle, it leaves lines twice. */
    async merge(now: number): Promise<void> {
      const newest = nameOf(now - MERGE_AGE_MS)
      const small = (await files.names()).filter(
        (name) => NAME.test(name) && !name.endsWith('-merged.jsonl') && name < newest,
      )
      for (let at = 0; at + MERGED_AT_ONCE <= small.length; at += MERGED_AT_ONCE) {
        const merged: string[] = []
        const pieces: string[] = []
        let size = 0
        for (const name of small.slice(at, at + MERGED_AT_ONCE)) {
          const { tombstones, isWhole } = await readFile(name)
          // A damaged one stays as it is: a restore names it.
          if (!isWhole) continue
          const text = tombstones.map(lineOf).join('')
          if (size + text.length > MERGED_BYTES) break
          size += text.length
          pieces.push(text)
          merged.push(name)
        }
        if (merged.length < 2) return
        const name = nameOf(now).replace('.jsonl', '-merged.jsonl')
        await files.write(name, new TextEncoder().encode(pieces.join('')))
        for (const name of merged) await files.remove(name)
      }
    },
  }
}

/** Random at its end: two processes never write the same. */
function nameOf(now: number): string {
  const time = new Date(now).toISOString().replace(/[-:.]/g, '')
  const random = crypto.getRandomValues(new Uint32Array(1))[0]!.toString(16).padStart(8, '0')
  return `${time}-${random}.jsonl`
}

/**
 * What holds in the end, to be applied to a ledger in this order: of each image and each digest the last change, but that what
 * is gone stays gone.
 */
export function lastOf(tombstones: readonly Tombstone[]): Tombstone[] {
  const last = new Map<string, Tombstone>()
  /** The last change that is not final. */
  const decided = new Map<string, Tombstone>()
  for (const tombstone of tombstones) {
    putIfLater(last, tombstone)
    if (FINAL[tombstone.act] === undefined) putIfLater(decided, tombstone)
  }
  // The operator let go of the bytes of an image that its uploader deleted.
  const released = [...decided.values()].filter(
    ({ act, subject }) => act === 'release' && last.get(subject)!.act === 'delete',
  )
  return [...[...last.values()].sort((a, b) => a.at - b.at || a.order - b.order), ...released]
}

function putIfLater(of: Map<string, Tombstone>, tombstone: Tombstone): void {
  const known = of.get(tombstone.subject)
  if (known === undefined || isLater(tombstone, known)) of.set(tombstone.subject, tombstone)
}

/** The operator's removal counts more than a deletion: the public is told why. */
const FINAL: Partial<Record<TombstoneAct, number>> = { delete: 1, remove: 2 }

function isLater(one: Tombstone, other: Tombstone): boolean {
  const [final, otherFinal] = [FINAL[one.act] ?? 0, FINAL[other.act] ?? 0]
  if (final !== otherFinal) return final > otherFinal
  return one.at > other.at || (one.at === other.at && one.order >= other.order)
}
