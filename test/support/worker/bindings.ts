/** Bindings of a Worker, by Miniflare on workerd, used from this process. */
import { Miniflare } from 'miniflare'
import type { D1Binding } from '../../../src/stores/d1/binding.ts'
import type { R2Bucket } from '../../../src/stores/r2/binding.ts'

export interface Bindings {
  bucket: R2Bucket
  database: D1Binding
  /** Of salts alone. */
  salts: R2Bucket
  close(): Promise<void>
}

/** Nothing is on the disk: a bucket and a database that end with it. */
export async function startBindings(): Promise<Bindings> {
  const miniflare = new Miniflare({
    script: 'export default {}',
    modules: true,
    compatibilityDate: '2026-07-01',
    r2Buckets: ['IMAGES', 'PRIVATE'],
    d1Databases: ['LEDGER'],
  })
  await miniflare.ready
  return {
    bucket: (await miniflare.getR2Bucket('IMAGES')) as unknown as R2Bucket,
    database: (await miniflare.getD1Database('LEDGER')) as unknown as D1Binding,
    salts: (await miniflare.getR2Bucket('PRIVATE')) as unknown as R2Bucket,
    close: () => miniflare.dispose(),
  }
}
