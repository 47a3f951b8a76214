/** Simulates processes that a test can pause or crash: their disk and network calls wait at a gate. All in one process. */
import { AsyncLocalStorage } from 'node:async_hooks'

/** Awaited before each call. If it throws, the call fails with that error. */
type Gate = () => void | Promise<void>

const gates = new AsyncLocalStorage<Gate>()

/** Call before each disk or network call. */
export function passGate(): void | Promise<void> {
  return gates.getStore()?.()
}

/** Runs `operation` with `gate` in front of its calls. */
export function gated<T>(gate: Gate, operation: () => Promise<T>): Promise<T> {
  return gates.run(gate, operation)
}

/** Runs `operation` and simulates a crash just before its call number `step`, counted from 0. True if it crashed. */
export async function crashesAt(step: number, operation: () => Promise<unknown>): Promise<boolean> {
  let left = step
  const gate = () => {
    if (left-- <= 0) throw new Error('this process crashed')
  }
  await gated(gate, operation).catch((error) => {
    if (left >= 0) throw error
  })
  return left < 0
}
