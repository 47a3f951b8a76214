/** Work that a process comes back to at an interval, one round at a time. */
export interface Rounds {
  /** Begins a round, unless one is under way. */
  begin(): void
  /** A round that begins from now on: at once, or behind the one that is under way. */
  beginAnother(): void
  /** Begins a round, and one at each interval from then on. */
  start(): void
  /** Begins no more. Resolves when the round that is under way has ended. */
  stop(): Promise<void>
}

/** `onFailure`: hears what a round throws. `isFirstDone`: `start` waits an interval before the first round. */
export function createRounds(
  round: () => Promise<void>,
  everyMs: number,
  onFailure: (error: unknown) => void,
  { isFirstDone = false } = {},
): Rounds {
  let timer: ReturnType<typeof setInterval> | undefined
  let underWay: Promise<void> | undefined
  let isAnotherDue = false

  function begin(): void {
    underWay ??= round()
      .catch(onFailure)
      .finally(() => {
        underWay = undefined
        if (!isAnotherDue) return
        isAnotherDue = false
        begin()
      })
  }

  return {
    begin,
    beginAnother() {
      if (underWay === undefined) begin()
      else isAnotherDue = true
    },
    start() {
      timer ??= setInterval(begin, everyMs)
      if (!isFirstDone) begin()
    },
    async stop() {
      clearInterval(timer)
      timer = undefined
      isAnotherDue = false
      await underWay
    },
  }
}
