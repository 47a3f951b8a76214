/** Runs inside each test file's process: sends test events to `run-file.ts`, as lines of JSON on descriptor 3. */
import { existsSync, readFileSync, writeSync } from 'node:fs'
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'

export type Message =
  | { is: 'started' | 'ended'; name: string; depth: number }
  /** `test:start`: following results belong to it or its subtests. In declaration order, even where tests run concurrently. */
  | { is: 'reported'; name: string; depth: number }
  | { is: 'passed' | 'skipped'; name: string; depth: number; suite: boolean; reason?: string }
  | { is: 'failed'; name: string; depth: number; file: string; why: string | null }
  | { is: 'declared' }
  | { is: 'diagnostic'; text: string }
  | { is: 'summary'; success: boolean }
  | { is: 'used'; seconds: number }

export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of source) {
    const message = messageOf(event)
    if (message) send(message)
  }
  yield ''
}

process.on('exit', () => send({ is: 'used', seconds: cpuSeconds() }))

function send(message: Message): void {
  writeSync(3, `${JSON.stringify(message)}\n`)
}

/** CPU time of this process and, where /proc exists, of its children that have exited (proc(5)). */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  const stat = existsSync('/proc/self/stat') ? readFileSync('/proc/self/stat', 'utf8') : ''
  const [userTicks, systemTicks] = stat.split(') ').at(-1)!.split(' ').slice(13, 15)
  return (user + system) / 1e6 + (Number(userTicks ?? 0) + Number(systemTicks ?? 0)) / 100
}

function messageOf({ type, data }: TestEvent): Message | null {
  switch (type) {
    case 'test:enqueue':
      return { is: 'declared' }
    case 'test:dequeue':
      return { is: 'started', name: data.name, depth: data.nesting }
    case 'test:start':
      return { is: 'reported', name: data.name, depth: data.nesting }
    case 'test:complete':
      return { is: 'ended', name: data.name, depth: data.nesting }
    case 'test:pass': {
      const position = { name: data.name, depth: data.nesting, suite: data.details.type === 'suite' }
      if (data.skip === undefined && data.todo === undefined) return { is: 'passed', ...position }
      const reason = data.skip ?? data.todo
      return { is: 'skipped', ...position, reason: typeof reason === 'string' ? reason : 'no reason' }
    }
    case 'test:fail': {
      const { error } = data.details
      const { failureType } = error as { failureType?: string }
      // A suite that fails because of its tests was reported through them.
      const why = failureType === 'subtestsFailed' ? null : inspect(error.cause ?? error)
      return { is: 'failed', name: data.name, depth: data.nesting, file: data.file ?? '', why }
    }
    case 'test:diagnostic':
      // The run computes these totals itself.
      return /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/.test(data.message)
        ? null
        : { is: 'diagnostic', text: data.message }
    case 'test:summary':
      return { is: 'summary', success: data.success }
    default:
      return null
  }
}
