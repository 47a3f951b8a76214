/** Processes of which a test says when they go on, and when they die: acts in this process, whose calls pass a gate. */
import { AsyncLocalStorage } from 'node:async_hooks'

/** What it throws is how the call fails. */
type Gate = () => void | Promise<void>

const gates = new AsyncLocalStorage<Gate>()

/** For who makes the calls: comes before each to the disk or the network. */
export function passGate(): void | Promise<void> {
  return gates.getStore()?.()
}

/** Runs `act`, whose calls pass `gate`. */
export function gated<T>(gate: Gate, act: () => Promise<T>): Promise<T> {
  return gates.run(gate, act)
}

/** Runs `act` as a process that dies just before its `step`-th call, the first being 0. True if it died. */
export async function dyingAt(step: number, act: () => Promise<unknown>): Promise<boolean> {
  let left = step
  const gate = () => {
    if (left-- <= 0) throw new Error('this process died')
  }
  await gated(gate, act).catch((error) => {
    if (left >= 0) throw error
  })
  return left < 0
}
