/**
 * What a million images and a million rows cost: the measured figures of docs/scale.md.
 *
 *     node bench/scale/main.ts [ledger] [images] [names] [verify] [polls] [--count 1000000] [--dir FOLDER]
 */
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { type Measure, tablesOf } from '../report/figures.ts'
import { machine } from '../report/machine.ts'
import { measureNames, measureVerify } from './commands.ts'
import { measureImages } from './images.ts'
import { measureLedgers } from './ledger.ts'
import { measurePolls } from './polls.ts'

const parts = {
  ledger: measureLedgers,
  images: measureImages,
  names: measureNames,
  verify: measureVerify,
  polls: measurePolls,
}

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { count: { type: 'string', default: '1000000' }, dir: { type: 'string', default: tmpdir() } },
})
await using temporary = await mkdtempDisposable(path.join(flags.dir, 'pinhole-scale-'))
const dir = temporary.path
console.error(machine())
const count = Number(flags.count)
const measures: Measure[] = []
for (const [name, measure] of Object.entries(parts)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue
  measures.push(...(await measure(dir, count)))
}
console.log(`${machine()}\n\n${tablesOf({ measures })}`)
