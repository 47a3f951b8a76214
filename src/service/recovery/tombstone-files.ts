/**
 * File format of tombstones in their second location. Each line is a tombstone with its own checksum, so that a torn or
 * corrupt file loses no more than the affected lines:
 *
 *     20261122T194500123Z-3fa9c1d2.jsonl    {"at":1795376700123,"order":1,"act":"delete","subject":"…"} 5d41402abc4b2a76
 *     followed.json                         {"until":"2026-11-22T19:45:50.000Z"}
 *     place.json                            {"id":"6f1c9a52-…"}
 *
 * Names sort by time. Lines may be duplicated and in any order: `at` and `order` determine which came last.
 */
import { forEachConcurrent } from '../../async.ts'
import { parseJsonObject } from '../../json.ts'
import type { Files } from '../../stores/files.ts'
import type { Tombstone, TombstoneAct } from '../../stores/tombstones.ts'
import type { Hashes } from '../hashes.ts'

/** Watermark: every change before its `until` is in the files next to it. */
const FOLLOWED = 'followed.json'

/** Identifies the location: a folder of the same name may be on a different disk. */
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

const READ_CONCURRENCY = 16

/** Files are merged in groups of this size once there are as many, as a restore has to read every file. */
const MERGE_BATCH = 500

/** Maximum size of a merged file. Unit: bytes. */
const MAX_MERGED_BYTES = 8 * 1024 * 1024

/** Younger files are not merged, as another process may just have written them. */
const MERGE_AGE_MS = 60 * 60_000

export interface FoundTombstones {
  /** The location's ID. `null` if it has none. */
  id: string | null
  tombstones: Tombstone[]
  /** Every change before this time is included. `null` if unknown. Epoch milliseconds. */
  until: number | null
  /** Names of files with unreadable lines. */
  damaged: string[]
}

export function createTombstoneFiles(files: Files, hashes: Pick<Hashes, 'sha256'>) {
  const checksum = (text: string) => hashes.sha256(text).slice(0, CHECKSUM_DIGITS)

  function lineOf({ at, order, act, subject, rule, digests }: Tombstone): string {
    const text = JSON.stringify({ at, order, act, subject, ...(rule === '' ? {} : { rule }), digests })
    return `${text} ${checksum(text)}\n`
  }

  /** `null` if the line is torn or corrupt, or of an unknown kind. */
  function tombstoneOf(line: string): Tombstone | null {
    const end = line.lastIndexOf(' ')
    const text = line.slice(0, end)
    if (end < 0 || checksum(text) !== line.slice(end + 1)) return null
    const { at, order, act, subject, rule = '', digests } = JSON.parse(text) as Tombstone & { rule?: string }
    // Acts unknown to this version were written by a newer one.
    return isTombstoneAct(act) ? { at, order, act, subject, rule, ...(digests && { digests }) } : null
  }

  async function readFile(name: string): Promise<{ tombstones: Tombstone[]; isWhole: boolean }> {
    const bytes = await files.read(name)
    // Merged in the meantime: a new listing has the file that replaced it.
    if (bytes === null) return { tombstones: [], isWhole: false }
    const lines = new TextDecoder().decode(bytes).split('\n')
    const isEnded = lines.pop() === ''
    const read = lines.map(tombstoneOf)
    const tombstones = read.filter((each) => each !== null)
    return { tombstones, isWhole: isEnded && tombstones.length === lines.length }
  }

  /** `null` if there is no such file. A damaged file reads as an empty object. */
  async function readJson(name: string): Promise<Record<string, unknown> | null> {
    const bytes = await files.read(name)
    return bytes && (parseJsonObject(new TextDecoder().decode(bytes)) ?? {})
  }

  const writeJson = (name: string, value: object) =>
    files.write(name, new TextEncoder().encode(`${JSON.stringify(value)}\n`))

  /** The watermark. `null` if the location was never written to. Epoch milliseconds. */
  async function until(): Promise<number | null> {
    const followed = await readJson(FOLLOWED)
    return followed && (Date.parse(String(followed.until)) || 0)
  }

  /** The location's ID. `null` if it has none yet. */
  async function id(): Promise<string | null> {
    const identity = await readJson(IDENTITY)
    return typeof identity?.id === 'string' ? identity.id : null
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
      // Read before the files: anything written in the meantime only adds to them.
      const followed = await until()
      const names = (await files.names()).filter((name) => NAME.test(name))
      const found: FoundTombstones = { id: await id(), tombstones: [], until: followed || null, damaged: [] }
      await forEachConcurrent(names, READ_CONCURRENCY, async (name) => {
        const { tombstones, isWhole } = await readFile(name)
        for (const each of tombstones) found.tombstones.push(each)
        if (!isWhole) found.damaged.push(name)
      })
      found.damaged.sort()
      return found
    },

    /** Merges many small files into one. If killed in the middle, it leaves duplicate lines. */
    async merge(now: number): Promise<void> {
      const newest = nameOf(now - MERGE_AGE_MS)
      const small = (await files.names()).filter(
        (name) => NAME.test(name) && !name.endsWith('-merged.jsonl') && name < newest,
      )
      for (let at = 0; at + MERGE_BATCH <= small.length; at += MERGE_BATCH) {
        const merged: string[] = []
        const texts: string[] = []
        let size = 0
        for (const name of small.slice(at, at + MERGE_BATCH)) {
          const { tombstones, isWhole } = await readFile(name)
          // A damaged file is kept, so that a restore can report it.
          if (!isWhole) continue
          const text = tombstones.map(lineOf).join('')
          if (size + text.length > MAX_MERGED_BYTES) break
          size += text.length
          texts.push(text)
          merged.push(name)
        }
        if (merged.length < 2) return
        const name = nameOf(now).replace('.jsonl', '-merged.jsonl')
        await files.write(name, new TextEncoder().encode(texts.join('')))
        for (const name of merged) await files.remove(name)
      }
    },
  }
}

/** Ends with a random number, so that no two processes write the same file. */
function nameOf(now: number): string {
  const time = new Date(now).toISOString().replace(/[-:.]/g, '')
  const random = crypto.getRandomValues(new Uint32Array(1))[0]!.toString(16).padStart(8, '0')
  return `${time}-${random}.jsonl`
}

/**
 * The effective tombstones, in the order in which to apply them to a ledger: the last change per image and digest, except
 * that deletions and removals are final.
 */
export function latestPerSubject(tombstones: readonly Tombstone[]): Tombstone[] {
  const last = new Map<string, Tombstone>()
  /** The last non-final change per subject. */
  const decided = new Map<string, Tombstone>()
  for (const tombstone of tombstones) {
    putIfLater(last, tombstone)
    if (FINAL[tombstone.act] === undefined) putIfLater(decided, tombstone)
  }
  // The operator released the bytes of an image that its uploader deleted.
  const released = [...decided.values()].filter(
    ({ act, subject }) => act === 'release' && last.get(subject)!.act === 'delete',
  )
  return [...[...last.values()].sort((a, b) => a.at - b.at || a.order - b.order), ...released]
}

function putIfLater(of: Map<string, Tombstone>, tombstone: Tombstone): void {
  const known = of.get(tombstone.subject)
  if (known === undefined || isLater(tombstone, known)) of.set(tombstone.subject, tombstone)
}

/** A removal by the operator outranks a deletion by the uploader, as visitors are given its reason. */
const FINAL: Partial<Record<TombstoneAct, number>> = { delete: 1, remove: 2 }

function isLater(one: Tombstone, other: Tombstone): boolean {
  const [final, otherFinal] = [FINAL[one.act] ?? 0, FINAL[other.act] ?? 0]
  if (final !== otherFinal) return final > otherFinal
  return one.at > other.at || (one.at === other.at && one.order >= other.order)
}
