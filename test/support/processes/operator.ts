/**
 * Runs operator commands. Loading the program takes longer than most commands, so in daily runs a single process runs all of
 * them sequentially. In CI each command gets its own process.
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
  // NODE_OPTIONS only takes effect in a new process.
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

/** Starts the child. It ends with this process, and does not keep it alive. */
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

/** Reads the output up to the end marker, and the exit code in front of it. */
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
