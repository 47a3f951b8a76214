/** Everything that a Worker stores besides images. */
import type { D1Binding } from '../../../src/stores/d1/binding.ts'
import type { R2Bucket, R2ObjectBody } from '../../../src/stores/r2/binding.ts'
import { tablesOf } from './d1-under-test.ts'

/** All rows by table. */
export async function rowsOf({ database }: { database: D1Binding }) {
  const rows = await Promise.all(
    (await tablesOf(database)).map(
      async (name) => [name, (await database.prepare(`select * from "${name}"`).all()).results] as const,
    ),
  )
  return Object.fromEntries(rows)
}

/** All salts by key. */
export async function saltsOf({ salts }: { salts: R2Bucket }): Promise<Map<string, string>> {
  const { objects } = await salts.list({ prefix: '', limit: 100, delimiter: '/', include: [] })
  const texts = objects.map(async ({ key }) => {
    const object = (await salts.get(key)) as R2ObjectBody
    return [key, Buffer.from(await object.arrayBuffer()).toString()] as const
  })
  return new Map(await Promise.all(texts))
}
