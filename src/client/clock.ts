import type { Clock } from './api/retry.ts'

export const realClock: Clock = {
  random: Math.random,
  now: Date.now,
  sleep: (seconds, signal) =>
    until(signal, (resolve) => {
      const timer = setTimeout(resolve, seconds * 1000)
      return () => clearTimeout(timer)
    }),
  // `onLine` is false only when it is certain; where it doesn't exist, nothing is known.
  online: (signal) =>
    globalThis.navigator?.onLine === false
      ? until(signal, (resolve) => {
          addEventListener('online', resolve)
          return () => removeEventListener('online', resolve)
        })
      : Promise.resolve(),
}

/** Resolves when `start`'s callback is called, rejects when the signal fires; undoes the start either way. */
function until(signal: AbortSignal | undefined, start: (resolve: () => void) => () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const cancel = () => {
      undo()
      reject(signal?.reason)
    }
    const undo = start(() => {
      signal?.removeEventListener('abort', cancel)
      undo()
      resolve()
    })
    signal?.addEventListener('abort', cancel, { once: true })
  })
}
