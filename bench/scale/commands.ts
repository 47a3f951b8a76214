/** The time of the operator's commands over all images, against standard tools that do the minimal work. */
import { execFileSync } from 'node:child_process'
import { linkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { newId } from '../../src/service/images/ids.ts'
import { startPinhole } from '../contestants/contestants.ts'
import type { Measure } from '../report/figures.ts'
import { ratios } from '../report/statistics.ts'
import { fillStore } from './fill-store.ts'

const ROUNDS = 5

/** Hard links per file. ext4 allows 65,000. */
const MAX_NAMES = 60_000

const MAX_SECONDS = 10

const root = path.resolve(import.meta.dirname, '../..')

/** Listing reads only names, so the images are hard links to a few files. */
export async function measureNames(dir: string, count: number): Promise<Measure[]> {
  const folder = path.join(dir, 'names')
  const dataDir = path.join(folder, 'data')
  // Starting a server creates the folder and the ledger.
  await (await startPinhole(folder)).stop()
  fill(path.join(dataDir, 'images/objects'), count)
  return measureCounts(dataDir, count)
}

function fill(objects: string, count: number): void {
  let source = ''
  for (let made = 0; made < count; made++) {
    const name = path.join(objects, newId())
    if (made % MAX_NAMES !== 0) linkSync(source, name)
    else {
      writeFileSync(name, '')
      source = name
    }
  }
}

function measureCounts(dataDir: string, count: number): Measure[] {
  const images = count.toLocaleString('en')
  const [counted, found] = commandsInTurn(
    dataDir,
    [
      [...OPERATOR, 'list', '--count'],
      ['sh', '-c', `find ${path.join(dataDir, 'images/objects')} -type f | wc -l`],
    ],
    (output) => {
      if (Number(output) !== count) throw new Error(`counted ${output} of ${count}`)
    },
  )
  return [
    {
      label: `operator list --count of ${images} images`,
      values: counted!,
      unit: 's',
      atMost: MAX_SECONDS,
    },
    { label: 'find and wc -l', values: found!, unit: 's' },
    { label: 'time of list --count, of find and wc -l', values: ratios(counted!, found!), unit: '' },
  ]
}

/** `operator verify` against `sha256sum` over the same files. */
export async function measureVerify(dir: string, count: number): Promise<Measure[]> {
  const folder = path.join(dir, 'verify')
  const dataDir = path.join(folder, 'data')
  await (await startPinhole(folder)).stop()
  await fillStore(path.join(dataDir, 'images'), count)
  const objects = path.join(dataDir, 'images/objects')
  const [verified, summed] = commandsInTurn(dataDir, [
    [...OPERATOR, 'verify'],
    ['sh', '-c', `find ${objects} -type f -print0 | xargs -0 sha256sum > /dev/null`],
  ])
  return [
    { label: `sha256sum of ${count.toLocaleString('en')} images`, values: summed!, unit: 's' },
    { label: 'operator verify', values: verified!, unit: 's' },
    { label: 'speed of verify, of sha256sum (at least 0.7)', values: ratios(summed!, verified!), unit: '' },
  ]
}

const OPERATOR = [process.execPath, 'src/node/operator.ts']

/** Runs the commands alternately. Returns the seconds of each. The first round is not counted: it warms up the page cache. */
function commandsInTurn(
  dataDir: string,
  commands: string[][],
  check: (output: string) => void = () => {},
): number[][] {
  const env = { PATH: process.env.PATH ?? '', DATA_DIR: dataDir, LOG_LEVEL: 'warn' }
  const seconds = commands.map((): number[] => [])
  for (let round = -1; round < ROUNDS; round++) {
    for (const [index, [command, ...words]] of commands.entries()) {
      const startedAt = performance.now()
      check(
        execFileSync(command!, words, {
          cwd: root,
          env,
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'ignore'],
        }),
      )
      if (round >= 0) seconds[index]!.push((performance.now() - startedAt) / 1000)
    }
  }
  return seconds
}
