/**
 * `node bench/compress/large.ts [--save]`: the cost of large pictures in Node, each in a separate process: CPU time for
 * drawings of 9 MP, memory for a JPEG of 50 MP. `--save` writes the table to compress.md.
 */

import { execFile } from 'node:child_process'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { table, verdict } from '../report/figures.ts'
import { saveFigures } from '../report/readme.ts'
import { drawings, photographOf } from './drawings.ts'

/** The output of `one-file.ts`. */
interface Cost {
  action: string
  type: string
  fallback?: string
  bytesIn: number
  bytesOut: number
  /** CPU time of all threads. */
  cpuSeconds: number
  peakMegabytes: number
}

const MAX_SECONDS = 8

const { values } = parseArgs({ options: { save: { type: 'boolean' } } })
await using temporary = await mkdtempDisposable(join(tmpdir(), 'pinhole-large-'))
const folder = temporary.path
const rows: string[][] = []
let isMet = true
for (const [name, drawing] of Object.entries(drawings())) {
  const path = join(folder, 'drawing.png')
  await drawing.png().toFile(path)
  const cost = await costOf(path)
  const isQuick = cost.cpuSeconds <= MAX_SECONDS && cost.fallback === undefined
  isMet &&= isQuick
  rows.push(rowOf(`${name}, 9 MP`, cost, ` (≤ ${MAX_SECONDS}: ${verdict(isQuick)})`))
}
const path = join(folder, 'photograph.jpg')
await (await photographOf(8660, 5773)).jpeg({ quality: 96 }).toFile(path)
rows.push(rowOf('photograph, 50 MP', await costOf(path)))
rows.push(rowOf('the same where 1 GB is free', await costOf(path, 1e9)))
const head = ['', 'size', 'result', 'processor', 'peak memory']
const figures = table(head, rows)
process.stdout.write(`${figures}\n`)
if (values.save) await saveFigures('large', figures, 'bench/compress.md')
process.exitCode = isMet ? 0 : 1

async function costOf(path: string, freeBytes?: number): Promise<Cost> {
  const script = join(import.meta.dirname, 'one-file.ts')
  const words = freeBytes === undefined ? [script, path] : [script, path, `${freeBytes}`]
  const { stdout } = await promisify(execFile)(process.execPath, words)
  return JSON.parse(stdout)
}

function rowOf(name: string, cost: Cost, demand = ''): string[] {
  const { action, type, fallback, bytesIn, bytesOut, cpuSeconds, peakMegabytes } = cost
  return [
    name,
    (bytesOut / bytesIn).toFixed(2),
    `${type.slice(6)}, ${fallback ?? action}`,
    `${cpuSeconds.toFixed(1)} s${demand}`,
    `${peakMegabytes.toFixed(0)} MB`,
  ]
}
