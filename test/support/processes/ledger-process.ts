/** Child processes that share a ledger. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Ledger } from '../../../src/stores/ledger.ts'
import { NODE } from './process.ts'

/** Location of the ledger. */
export type LedgerAddress = { file: string } | { url: string }

export type Call = [method: Exclude<keyof Ledger, 'close'>, ...args: unknown[]]
export type Outcome = { value: unknown } | { error: string }

export interface LedgerProcess {
  pid: number
  /** Makes the calls concurrently. Resolves to their values; throws the first error. */
  call(calls: Call[]): Promise<unknown[]>
  /** Sends SIGKILL. */
  kill(): Promise<void>
  /** Closes the ledger and ends the process. */
  end(): Promise<void>
}

const CHILD = fileURLToPath(new URL('./ledger-child.ts', import.meta.url))

export async function startLedgerProcess(address: LedgerAddress): Promise<LedgerProcess> {
  const child = fork(CHILD, [JSON.stringify(address)], {
    execPath: NODE,
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const gone = once(child, 'exit')
  await answerOf(child)

  return {
    pid: child.pid!,
    async call(calls) {
      return ((await answerOf(child, calls)) as Outcome[]).map((outcome) => {
        if ('error' in outcome) throw new Error(outcome.error)
        return outcome.value
      })
    },
    async kill() {
      child.kill('SIGKILL')
      await gone
    },
    async end() {
      if (child.connected) child.disconnect()
      await gone
    },
  }
}

/** Sends `calls`, if given, and resolves to the child's next message. */
function answerOf(child: ChildProcess, calls?: Call[]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`the process ended with ${code}`))
    child.once('exit', onExit)
    child.once('message', (message) => {
      child.off('exit', onExit)
      resolve(message)
    })
    // Without a callback, sending to a process that was killed meanwhile would emit `error`.
    if (calls !== undefined) child.send(calls, (error) => error && reject(error))
  })
}
