/** Runs the operator commands sent by its parent sequentially, each as if in a new process. */
import { runOperator } from '../../../src/node/operator/program.ts'
import type { Env } from './process.ts'

export interface Command {
  words: string[]
  env: Env
  /** Marks the end of both outputs. */
  end: string
}

process.on('message', async ({ words, env, end }: Command) => {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  const code = await runOperator(words)
  process.exitCode = undefined
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error')
    stream.write(`${code}${end}`)
  }
})
