/** A Worker's bindings, provided by Miniflare on workerd and used from this process. */
import { Miniflare } from 'miniflare'
import { Pool } from 'undici'
import type { D1Binding, D1Result, D1Statement } from '../../../src/stores/d1/binding.ts'
import type { R2Bucket } from '../../../src/stores/r2/binding.ts'

export interface Bindings {
  bucket: R2Bucket
  database: D1Binding
  /** Separate bucket for salts. */
  salts: R2Bucket
  close(): Promise<void>
}

/**
 * Forwards statements to the binding. Miniflare's own proxy needs three calls per statement, two of which block this process,
 * and loses responses when a thousand are concurrent.
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

/** Starts an in-memory bucket and database. */
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
    database: databaseVia(pool),
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

function databaseVia(pool: Pool): D1Binding {
  async function post(path: '/all' | '/batch', statements: Bound[]): Promise<D1Result[]> {
    const body = JSON.stringify(statements.map(({ sql, values }) => ({ sql, values })))
    const answer = await pool.request({ method: 'POST', path, body })
    const payload = await answer.body.json()
    if (answer.statusCode === 200) return payload as D1Result[]
    throw new Error((payload as { message: string }).message)
  }
  const bound = (sql: string, values: (string | number)[]): Bound => ({
    sql,
    values,
    bind: (...values) => bound(sql, values),
    async all() {
      const [result] = await post('/all', [bound(sql, values)])
      return result!
    },
  })
  return {
    prepare: (sql) => bound(sql, []),
    batch: (statements) => post('/batch', statements as Bound[]),
  }
}
