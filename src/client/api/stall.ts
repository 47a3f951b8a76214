import { NetworkFault, STALL_MS } from './transport.ts'

export interface StallWatch {
  /** Something moved. */
  touch(): void
  stop(): void
}

/** Calls `onStall` once if nothing moves for `stallMs`. */
export function watchForStall(onStall: (fault: NetworkFault) => void, stallMs = STALL_MS): StallWatch {
  let timer: ReturnType<typeof setTimeout> | undefined
  const arm = () => {
    timer = setTimeout(
      () => onStall(new NetworkFault(`the connection stood still for ${stallMs / 1000} s`)),
      stallMs,
    )
  }
  arm()
  return {
    touch() {
      // A body may go on moving after its answer came.
      if (timer === undefined) return
      clearTimeout(timer)
      arm()
    },
    stop() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}
