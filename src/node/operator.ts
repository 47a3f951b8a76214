/**
 * The operator's commands, on the data of a running server: at once effective in every process.
 *
 *     npm run operator -- remove ID… --reason TEXT [--block]
 *     npm run operator -- block SHA256… --reason TEXT
 *     npm run operator -- unblock SHA256… --reason TEXT
 *     npm run operator -- status
 */
import { parseArgs } from 'node:util'
import { ConfigError, parseConfig } from '../config.ts'
import { ID_PATTERN } from '../protocol.ts'
import { createTakedown, type Status, type Takedown } from '../service/takedown.ts'
import { createLog } from './log.ts'
import { openStores } from './open-stores.ts'

const USAGE = `Usage: npm run operator -- COMMAND

  remove ID… --reason TEXT [--block]   remove images; --block refuses the same bytes from now on
  block SHA256… --reason TEXT          refuse these bytes, by the digest of what is sent or stored
  unblock SHA256… --reason TEXT        take them again
  status                               what is stored, blocked and owed, and the newest acts

The same variables as the server's say where the data is.
`

const SHA256_PATTERN = /^[0-9a-f]{64}$/

class UsageError extends Error {}

async function main(): Promise<number> {
  const [command, subjects, options] = readWords()
  const config = parseConfig(process.env)
  const stores = await openStores(config, createLog(config.logLevel))
  try {
    const takedown = createTakedown({ ...stores, now: Date.now })
    return await run(takedown, command, subjects, options)
  } finally {
    await stores.close()
  }
}

type Options = { reason: string; block: boolean }

function readWords(): [string, string[], Options] {
  const { values, positionals } = parse()
  const [command, ...subjects] = positionals
  const needs: Record<string, (subject: string) => string> = {
    remove: idIn,
    block: digestIn,
    unblock: digestIn,
  }
  if (command === 'status' && subjects.length === 0) return [command, [], { reason: '', block: false }]
  if (command === undefined || !Object.hasOwn(needs, command)) throw new UsageError('Name a command.')
  if (subjects.length === 0) throw new UsageError(`Name what to ${command}.`)
  if (!values.reason) throw new UsageError('Give a reason: --reason TEXT. It is recorded.')
  return [command, subjects.map(needs[command]), { reason: values.reason, block: values.block ?? false }]
}

function parse() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { reason: { type: 'string' }, block: { type: 'boolean' } },
    })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** An id, or an address that ends with one. */
function idIn(subject: string): string {
  const id = subject
    .replace(/[?#].*$/, '')
    .replace(/^.*\//, '')
    .replace(/\.\w+$/, '')
  if (!ID_PATTERN.test(id)) throw new UsageError(`"${subject}" is no image's id.`)
  return id
}

function digestIn(subject: string): string {
  const digest = subject.toLowerCase()
  if (!SHA256_PATTERN.test(digest)) throw new UsageError(`"${subject}" is no SHA-256 in hex.`)
  return digest
}

async function run(
  takedown: Takedown,
  command: string,
  subjects: string[],
  options: Options,
): Promise<number> {
  let missed = 0
  for (const subject of subjects) {
    if (command === 'remove') {
      const { removed, blocked } = await takedown.remove(subject, options.reason, options)
      const also = blocked.length > 0 ? `, blocked ${blocked.join(' ')}` : ''
      print(
        removed ? `removed ${subject}${also}` : `${subject} was not there; it answers 410 from now on${also}`,
      )
    } else if (command === 'block') {
      await takedown.block(subject, options.reason)
      print(`blocked ${subject}`)
    } else if (await takedown.unblock(subject, options.reason)) {
      print(`unblocked ${subject}`)
    } else {
      missed++
      print(`${subject} was not blocked`)
    }
  }
  if (command === 'status') printStatus(await takedown.status())
  return missed === 0 ? 0 : 1
}

function printStatus({ images, removals, blocks, purgesOwed, acts }: Status): void {
  print(`images ${images}\nremovals ${removals}\nblocked digests ${blocks}\npurges owed ${purgesOwed}`)
  for (const { at, act, subject, reason } of acts) print(`${at} ${act} ${subject} ${JSON.stringify(reason)}`)
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

try {
  process.exitCode = await main()
} catch (error) {
  const lines = error instanceof ConfigError ? error.mistakes : [(error as Error).message]
  process.stderr.write(`${lines.join('\n')}\n${error instanceof UsageError ? `\n${USAGE}` : ''}`)
  process.exitCode = error instanceof UsageError ? 2 : 1
}
