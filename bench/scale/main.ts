/** The cost of a million images and a million rows: the measured figures in docs/scale.md. */
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readArguments } from '../../scripts/arguments.ts'
import { type Measure, tablesOf } from '../report/figures.ts'
import { machine, thisRun } from '../report/machine.ts'
import { measureNames, measureVerify } from './commands.ts'
import { measureLedger } from './ledger.ts'

const parts = {
  ledger: measureLedger,
  names: measureNames,
  verify: measureVerify,
}

const { values: flags, positionals } = readArguments(
  'node bench/scale/main.ts [ledger|names|verify…] [--count N] [--dir FOLDER]',
  {
    allowPositionals: true,
    options: { count: { type: 'string', default: '1000000' }, dir: { type: 'string', default: tmpdir() } },
  },
)
await using temporary = await mkdtempDisposable(path.join(flags.dir, 'pinhole-scale-'))
const dir = temporary.path
const count = Number(flags.count)
const measures: Measure[] = []
for (const [name, measure] of Object.entries(parts)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue
  measures.push(...(await measure(dir, count)))
}
console.log(`${thisRun()}, ${machine()}\n\n${tablesOf({ measures })}`)
