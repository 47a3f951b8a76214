/** Lets so many in at once, and the others in turn. */
export interface Gate {
  run<T>(work: () => Promise<T>): Promise<T>
}

export function createGate(most: number): Gate {
  let inside = 0
  const waiting: (() => void)[] = []

  return {
    async run(work) {
      // Whoever leaves hands over the place: it is never free while somebody waits.
      if (inside < most) inside++
      else await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        return await work()
      } finally {
        const next = waiting.shift()
        if (next === undefined) inside--
        else next()
      }
    },
  }
}
