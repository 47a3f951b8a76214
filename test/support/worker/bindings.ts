/** Bindings of a Worker, by Miniflare on workerd, used from this process. */
import { Miniflare } from 'miniflare'
import { Pool } from 'undici'
import type { D1Binding, D1Result, D1Statement } from '../../../src/stores/d1/binding.ts'
import type { R2Bucket } from '../../../src/stores/r2/binding.ts'

export interface Bindings {
  bucket: R2Bucket
  database: D1Binding
  /** For salts alone. */
  salts: R2Bucket
  close(): Promise<void>
}

/**
 * Passes statements on to the binding. Miniflare's own way to it needs three calls for a statement, two of which stop this
 * process, and loses answers of a thousand at once.
 */
const SCRIPT = `export default {
  async fetch(request, { LEDGER }) {
    const statements = await request.json()
    try {
      const prepared = statements.map(({ sql, values }) => LEDGER.prepare(sql).bind(...values))
      const isBatch = new URL(request.url).pathname === '/batch'
      return Response.json(isBatch ? await LEDGER.batch(prepared) : [await prepared[0].all()])
    } catch (error) {
      return Response.json({ message: error.message }, { status: 500 })
    }
  },
}`

/** Nothing is on the disk: a bucket and a database that end with it. */
export async function startBindings(): Promise<Bindings> {
  const miniflare = new Miniflare({
    script: SCRIPT,
    modules: true,
    compatibilityDate: '2026-07-01',
    r2Buckets: ['IMAGES', 'PRIVATE'],
    d1Databases: ['LEDGER'],
  })
  const pool = new Pool((await miniflare.ready).origin, { connections: 16 })
  return {
    bucket: (await miniflare.getR2Bucket('IMAGES')) as unknown as R2Bucket,
    database: databaseBehind(pool),
    salts: (await miniflare.getR2Bucket('PRIVATE')) as unknown as R2Bucket,
    async close() {
      await pool.destroy()
      await miniflare.dispose()
    },
  }
}

interface Bound extends D1Statement {
  readonly sql: string
  readonly values: (string | number)[]
}

function databaseBehind(pool: Pool): D1Binding {
  async function ask(path: '/all' | '/batch', statements: Bound[]): Promise<D1Result[]> {
    const body = JSON.stringify(statements.map(({ sql, values }) => ({ sql, values })))
    const answer = await pool.request({ method: 'POST', path, body })
    const said = await answer.body.json()
    if (answer.statusCode === 200) return said as D1Result[]
    throw new Error((said as { message: string }).message)
  }
  const bound = (sql: string, values: (string | number)[]): Bound => ({
    sql,
    values,
    bind: (...given) => bound(sql, given),
    async all() {
      const [result] = await ask('/all', [bound(sql, values)])
      return result!
    },
  })
  return {
    prepare: (sql) => bound(sql, []),
    batch: (statements) => ask('/batch', statements as Bound[]),
  }
}
