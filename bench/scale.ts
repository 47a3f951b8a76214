/**
 * What a million images and a million rows cost: the measured figures of docs/scale.md.
 *
 *     node bench/scale.ts [--count 1000000] [--dir FOLDER]
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { tablesOf } from './figures.ts'
import { machine } from './machine.ts'
import { measureImages } from './scale-images.ts'
import { measureLedgers } from './scale-ledger.ts'

const { values: flags } = parseArgs({
  options: { count: { type: 'string', default: '1000000' }, dir: { type: 'string', default: tmpdir() } },
})
const dir = await mkdtemp(path.join(flags.dir, 'pinhole-scale-'))
try {
  console.error(machine())
  const count = Number(flags.count)
  const measures = [...(await measureLedgers(dir, count)), ...(await measureImages(dir, count))]
  console.log(`${machine()}\n\n${tablesOf({ comparisons: [], measures })}`)
} finally {
  await rm(dir, { recursive: true, force: true })
}
