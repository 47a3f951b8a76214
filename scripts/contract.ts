/**
 * The HTTP contract, and the loop of kills, by a server on another runtime than Node:
 *
 *     npm run contract -- --runtime bun [--rounds 50]
 */
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { bunBinary, denoBinary } from './runtimes.ts'

const RUNTIMES: Record<string, () => string> = { bun: bunBinary, deno: denoBinary }

const { values } = parseArgs({
  options: { runtime: { type: 'string', default: '' }, rounds: { type: 'string', default: '50' } },
})
const binary = RUNTIMES[values.runtime]
if (binary === undefined) {
  console.error(`--runtime must be one of ${Object.keys(RUNTIMES).join(', ')}`)
  process.exit(2)
}
const version = spawnSync(binary(), ['--version'], { encoding: 'utf8' }).stdout.split('\n')[0]
console.log(`${values.runtime} ${version}`)

const env = { ...process.env, PINHOLE_RUNTIME: values.runtime }
const run = (...words: string[]) => spawnSync(process.execPath, words, { stdio: 'inherit', env }).status ?? 1
const contract = run('scripts/test.ts', 'test/http.test.ts')
const loop = run('scripts/crash-loop.ts', values.rounds)
process.exit(contract || loop)
