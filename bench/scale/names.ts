/**
 * What it costs to list a folder of many images: `operator list --count` beside `find | wc -l`, interleaved, and a walk over
 * all ids in order. Listing looks at names alone, so the images are names of a few files.
 */
import { execFileSync } from 'node:child_process'
import { linkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { ID_PATTERN } from '../../src/protocol.ts'
import { newId } from '../../src/service/images/ids.ts'
import { openFilesystemStore } from '../../src/stores/filesystem/store.ts'
import { startPinhole } from '../contestants/contestants.ts'
import type { Measure } from '../report/figures.ts'

const ROUNDS = 5

/** Hard links of one file. ext4 takes 65,000. */
const MAX_NAMES = 60_000

const SECONDS_DEMANDED = 10

const root = path.resolve(import.meta.dirname, '../..')

export async function measureNames(dir: string, count: number): Promise<Measure[]> {
  const folder = path.join(dir, 'names')
  const dataDir = path.join(folder, 'data')
  // It makes the folder and the ledger.
  await (await startPinhole(folder)).stop()
  fill(path.join(dataDir, 'images/objects'), count)
  const seconds = await secondsOfWalk(dataDir, count)
  const images = count.toLocaleString('en')
  return [
    ...measureCounts(dataDir, count),
    { what: `all ids of ${images} images, in order`, values: [seconds], unit: 's' },
  ]
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

/** The folder is in memory by the second turn of each: the first one is not counted. */
export function measureCounts(dataDir: string, count: number): Measure[] {
  const env = { PATH: process.env.PATH ?? '', DATA_DIR: dataDir, LOG_LEVEL: 'warn' }
  const objects = path.join(dataDir, 'images/objects')
  const counted: number[] = []
  const found: number[] = []
  for (let round = -1; round < ROUNDS; round++) {
    for (const [seconds, command, ...words] of [
      [counted, process.execPath, 'src/node/operator.ts', 'list', '--count'],
      [found, 'sh', '-c', `find ${objects} -type f | wc -l`],
    ] as [number[], string, ...string[]][]) {
      const startedAt = performance.now()
      const told = execFileSync(command, words, { cwd: root, env, stdio: ['ignore', 'pipe', 'ignore'] })
      if (round >= 0) seconds.push((performance.now() - startedAt) / 1000)
      if (Number(told) !== count) throw new Error(`${words.join(' ')} counts ${told} of ${count}`)
    }
  }
  const ratios = counted.map((seconds, round) => seconds / found[round]!)
  return [
    {
      what: `operator list --count of ${count.toLocaleString('en')} images`,
      values: counted,
      unit: 's',
      atMost: SECONDS_DEMANDED,
    },
    { what: 'find and wc -l', values: found, unit: 's' },
    { what: 'time of list --count, of find and wc -l', values: ratios, unit: '' },
  ]
}

async function secondsOfWalk(dataDir: string, count: number): Promise<number> {
  const store = await openFilesystemStore({ folder: path.join(dataDir, 'images'), hotSetBytes: 0 })
  const startedAt = performance.now()
  let listed = 0
  for await (const id of store.list()) if (ID_PATTERN.test(id)) listed++
  const seconds = (performance.now() - startedAt) / 1000
  await store.close()
  if (listed !== count) throw new Error(`${listed} of ${count} listed`)
  return seconds
}
