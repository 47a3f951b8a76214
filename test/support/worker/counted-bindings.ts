/** R2 and D1 in memory, with the platform's limits of subrequests, which workerd does not enforce, and of parameters. */
import { hash } from 'node:crypto'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { D1Binding, D1Result, D1Statement } from '../../../src/stores/d1/binding.ts'
import { openD1Ledger } from '../../../src/stores/d1/ledger.ts'
import type { Ledger } from '../../../src/stores/ledger.ts'
import type { ObjectStore } from '../../../src/stores/object-store.ts'
import type { R2Bucket, R2ObjectBody, R2Value } from '../../../src/stores/r2/binding.ts'
import { r2Salts } from '../../../src/stores/r2/salts.ts'
import { openR2Store } from '../../../src/stores/r2/store.ts'
import { migrate } from './d1-under-test.ts'

/** Cloudflare Workers, "Limits": subrequests of one invocation. */
const MAX_CALLS = 1000

export interface CountedStores {
  objects: ObjectStore
  /** The bucket behind `objects`. */
  bucket: R2Bucket
  ledger: Ledger
  /**
   * Runs `work` like one invocation of a Worker; a call above the limit throws. `calls`: their number. `recorded`: the names of
   * R2's methods and the texts of D1's statements, of which a call may have several.
   */
  within<T>(work: () => Promise<T>): Promise<{ result: T; calls: number; recorded: string[] }>
}

/** Cloudflare D1, "Limits": bound parameters of a statement. */
const MAX_PARAMETERS = 100

/** Called with what a call does. */
type OnCall = (...what: string[]) => void

export async function countedStores(): Promise<CountedStores> {
  let calls = 0
  let recorded: string[] = []
  let maxCalls = Number.POSITIVE_INFINITY
  const onCall: OnCall = (...what) => {
    if (++calls > maxCalls) throw new Error('Too many subrequests by single Worker invocation.')
    recorded.push(...what)
  }
  const database = d1InMemory(onCall)
  await migrate(database)
  const bucket = r2InMemory(onCall)
  return {
    objects: openR2Store({ bucket }),
    bucket,
    ledger: openD1Ledger({ database, salts: r2Salts(r2InMemory(onCall)) }),
    async within(work) {
      calls = 0
      recorded = []
      maxCalls = MAX_CALLS
      try {
        return { result: await work(), calls, recorded }
      } finally {
        maxCalls = Number.POSITIVE_INFINITY
      }
    },
  }
}

interface Stored {
  bytes: Buffer<ArrayBuffer>
  etag: string
  uploaded: Date
  customMetadata: Record<string, string>
}

export function r2InMemory(onCall: OnCall): R2Bucket {
  const stored = new Map<string, Stored>()
  const shown = (key: string, { bytes, ...facts }: Stored) => ({ key, size: bytes.length, ...facts })
  const opened = (key: string, of: Stored, bytes: Buffer<ArrayBuffer>): R2ObjectBody => ({
    ...shown(key, of),
    body: new Blob([bytes]).stream(),
    arrayBuffer: async () => new Uint8Array(bytes).buffer,
  })
  return {
    async head(key) {
      onCall('head')
      const found = stored.get(key)
      return found === undefined ? null : shown(key, found)
    },
    async get(key, { onlyIf, range } = {}) {
      onCall('get')
      const found = stored.get(key)
      if (found === undefined) return null
      if (onlyIf?.etagMatches !== undefined && onlyIf.etagMatches !== found.etag) return shown(key, found)
      const { offset, length } = range ?? { offset: 0, length: found.bytes.length }
      return opened(key, found, found.bytes.subarray(offset, offset + length))
    },
    async put(key, value, { onlyIf, customMetadata = {} } = {}) {
      onCall('put')
      const bytes = await bytesOf(value)
      const found = stored.get(key)
      if (onlyIf?.etagMatches !== undefined && onlyIf.etagMatches !== found?.etag) return null
      if (onlyIf?.etagDoesNotMatch === '*' && found !== undefined) return null
      const put = { bytes, etag: hash('md5', bytes), uploaded: new Date(), customMetadata }
      stored.set(key, put)
      return shown(key, put)
    },
    async delete(key) {
      onCall('delete')
      stored.delete(key)
    },
    async list({ prefix, limit, cursor, startAfter }) {
      onCall('list')
      const after = cursor ?? startAfter ?? ''
      const keys = [...stored.keys()]
        .filter((key) => key.startsWith(prefix) && !key.slice(prefix.length).includes('/') && key > after)
        .sort()
      const page = keys.slice(0, limit)
      return {
        objects: page.map((key) => shown(key, stored.get(key)!)),
        truncated: keys.length > limit,
        cursor: page.at(-1) ?? '',
      }
    },
  }
}

async function bytesOf(value: R2Value): Promise<Buffer<ArrayBuffer>> {
  return value instanceof Uint8Array
    ? Buffer.from(value)
    : Buffer.from(await new Response(value as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer())
}

function d1InMemory(onCall: OnCall): D1Binding {
  const database = new DatabaseSync(':memory:')
  const changes = () => Number(database.prepare('select total_changes() as n').get()!.n)
  const known = new WeakMap<D1Statement, { sql: string; run: () => D1Result }>()

  function statement(sql: string, values: SQLInputValue[]): D1Statement {
    const run = (): D1Result => {
      const before = changes()
      const prepared = database.prepare(sql)
      const rows = prepared.columns().length > 0 ? prepared.all(...values) : []
      if (prepared.columns().length === 0) prepared.run(...values)
      return { results: rows as D1Result['results'], meta: { changes: changes() - before } }
    }
    const prepared: D1Statement = {
      bind(...bound) {
        if (bound.length > MAX_PARAMETERS) throw new Error('D1_ERROR: too many SQL variables: SQLITE_ERROR')
        return statement(sql, bound)
      },
      async all() {
        onCall(sql)
        return run()
      },
    }
    known.set(prepared, { sql, run })
    return prepared
  }

  return {
    prepare: (sql) => statement(sql, []),
    async batch(statements) {
      const batch = statements.map((each) => known.get(each)!)
      onCall(...batch.map(({ sql }) => sql))
      database.exec('begin')
      try {
        const results = batch.map(({ run }) => run())
        database.exec('commit')
        return results
      } catch (error) {
        database.exec('rollback')
        throw error
      }
    },
  }
}
