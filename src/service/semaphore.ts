/** Lets so many work at once, and the others in the order in which they came. */
export interface Semaphore {
  run<T>(work: () => Promise<T>): Promise<T>
}

export function createSemaphore(permits: number): Semaphore {
  let held = 0
  const waiting: (() => void)[] = []

  return {
    async run(work) {
      // A permit is handed over directly: none is free while somebody waits.
      if (held < permits) held++
      else await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        return await work()
      } finally {
        const next = waiting.shift()
        if (next === undefined) held--
        else next()
      }
    },
  }
}
