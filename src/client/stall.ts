import { NetworkFault, STALL_MS } from './transport.ts'

export interface StallWatch {
  /** Something moved. */
  touch(): void
  stop(): void
}

/** Calls `onStall` once if nothing moves for `stallMs`. */
export function watchForStall(onStall: (fault: NetworkFault) => void, stallMs = STALL_MS): StallWatch {
  const expire = () => onStall(new NetworkFault(`the connection stood still for ${stallMs / 1000} s`))
  let timer = setTimeout(expire, stallMs)
  return {
    touch() {
      clearTimeout(timer)
      timer = setTimeout(expire, stallMs)
    },
    stop: () => clearTimeout(timer),
  }
}
