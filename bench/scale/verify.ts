/**
 * `operator verify` beside `sha256sum` over the same files, interleaved, and `operator list --count`.
 *
 *     node bench/scale/verify.ts [--count 100000] [--rounds 3] [--dir FOLDER]
 */
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { startPinhole } from '../contestants/contestants.ts'
import { tablesOf } from '../report/figures.ts'
import { machine } from '../report/machine.ts'
import { fillStore } from './fill-store.ts'

const { values: flags } = parseArgs({
  options: {
    count: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '3' },
    dir: { type: 'string', default: tmpdir() },
  },
})
const root = path.resolve(import.meta.dirname, '../..')
const dir = await mkdtemp(path.join(flags.dir, 'pinhole-verify-'))
const dataDir = path.join(dir, 'data')

function secondsOf(command: string, words: string[]): number {
  const env = { PATH: process.env.PATH ?? '', DATA_DIR: dataDir, LOG_LEVEL: 'warn' }
  const startedAt = performance.now()
  execFileSync(command, words, { cwd: root, env, stdio: ['ignore', 'ignore', 'inherit'] })
  return (performance.now() - startedAt) / 1000
}

const operator = (...words: string[]) => secondsOf(process.execPath, ['src/node/operator.ts', ...words])
const digests = () =>
  secondsOf('sh', ['-c', `find ${dataDir}/images/objects -type f -print0 | xargs -0 sha256sum > /dev/null`])

try {
  console.error(machine())
  // It makes the folder and the ledger.
  await (await startPinhole(dir)).stop()
  await fillStore(path.join(dataDir, 'images'), Number(flags.count))
  const [verified, summed, counted]: [number[], number[], number[]] = [[], [], []]
  // The first pass of each brings the files into memory.
  digests()
  operator('verify')
  for (let round = 0; round < Number(flags.rounds); round++) {
    summed.push(digests())
    verified.push(operator('verify'))
    counted.push(operator('list', '--count'))
  }
  const speeds = verified.map((seconds, round) => summed[round]! / seconds)
  const measures = [
    { what: `sha256sum of ${flags.count} images`, values: summed, unit: 's' },
    { what: 'operator verify', values: verified, unit: 's' },
    { what: 'speed of verify, of sha256sum (at least 0.7)', values: speeds, unit: '' },
    { what: 'operator list --count', values: counted, unit: 's', atMost: 10 },
  ]
  console.log(`${machine()}\n\n${tablesOf({ comparisons: [], measures })}`)
} finally {
  await rm(dir, { recursive: true, force: true })
}
