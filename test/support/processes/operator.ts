/**
 * The operator's command, for tests that give it often: loading it takes longer than what it does. In CI each command has a
 * process; in the daily run one process does one after another.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { IS_WHOLE } from '../extent.ts'
import type { Command } from './operator-child.ts'
import { type Env, environmentOf, NODE, type Ran, ROOT, run } from './process.ts'

let child: ChildProcess | undefined
let last: Promise<unknown> = Promise.resolve()

export function operate(words: string[], env: Env): Promise<Ran> {
  // What Node loads before all else it loads when it starts.
  if (IS_WHOLE || env.NODE_OPTIONS !== undefined) return run(['src/node/operator.ts', ...words], env)
  const ran = last.then(() => next(words, env))
  last = ran.catch(() => {})
  return ran
}

async function next(words: string[], env: Env): Promise<Ran> {
  child ??= start()
  const end = `-${randomUUID()}`
  const outputs = Promise.all([upTo(child.stdout as Socket, end), upTo(child.stderr as Socket, end)])
  child.send({ words, env: environmentOf(env), end } satisfies Command)
  const [{ code, text: stdout }, { text: stderr }] = await outputs
  return { code, signal: null, stdout, stderr }
}

/** Its channel closes with this process, and nothing else keeps it. */
function start(): ChildProcess {
  const stdio = ['ignore', 'pipe', 'pipe', 'ipc'] as const
  const started = spawn(NODE, [join(import.meta.dirname, 'operator-child.ts')], {
    cwd: ROOT,
    env: environmentOf(),
    stdio: [...stdio],
  })
  started.unref()
  started.channel!.unref()
  return started
}

/** What comes before the end, and the code that stands there. */
function upTo(stream: Socket, end: string): Promise<{ code: number; text: string }> {
  return new Promise((resolve, reject) => {
    let output = ''
    const fail = () => reject(new Error(`the process of the operator's commands ended:\n${output}`))
    const read = (chunk: string) => {
      output += chunk
      if (!output.endsWith(end)) return
      stream.off('data', read).off('close', fail).unref()
      const at = output.length - end.length - 1
      resolve({ code: Number(output[at]), text: output.slice(0, at) })
    }
    stream.setEncoding('utf8').on('data', read).once('close', fail).ref()
  })
}
