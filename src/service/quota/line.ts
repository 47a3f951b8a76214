/**
 * The line in which uploads wait, unread, for their turn to be read (docs/decisions/068). It bounds what is read at once,
 * of an address and of all. In memory, of this process alone.
 */
import { Refusal } from '../../errors.ts'
import { type Address, createQueue, type QueueLimits } from './fair-queue.ts'

export interface LineLimits extends QueueLimits {
  /** How long an upload waits for its turn. Unit: milliseconds. */
  waitMs: number
  /** Uploads of one address that wait. */
  waitingOfAddress: number
}

export interface Client {
  address: string
  network: string
  /** What it holds in memory at most while it waits. Unit: bytes. */
  waitingBytes: number
  /** Calls `act` if the client goes away. What it returns ends that. */
  onGone(act: () => void): () => void
}

export interface Turn<Admitted> {
  admitted: Admitted
  /** To be called once, when the upload has ended: the next one has its turn. */
  end(): void
}

export interface Line {
  /**
   * Waits for a turn, then calls `admit`. `null` of it means that it depends on uploads that have not ended: the client
   * goes on waiting, first of its address, and `admit` is called again when one of its address ended here, or may have
   * ended elsewhere. Throws what `admit` throws; `Refusal('busy')` if the line is full, or the wait was too long;
   * `Refusal('malformed-multipart')` if the client went away meanwhile.
   */
  enter<Admitted>(client: Client, admit: () => Promise<Admitted | null>): Promise<Turn<Admitted>>
  /** How many are read now, and how many wait. */
  counts(): { reading: number; waiting: number }
}

interface Waiter {
  serial: number
  bytes: number
  client: Client
  /** Calls `admit`. `null`: it is to wait on. Never rejects. */
  attempt(): Promise<'admitted' | 'refused' | null>
  refuse(error: Refusal): void
  /** Why it may not wait on, should its attempt come to nothing. */
  isOver: Refusal | null
  /** Ends its timer and its listener. `null` before it waits. */
  unwatch: (() => void) | null
}

/** The first of an address depends on others that have not ended. It is tried again, alone. */
interface Stall {
  timer: ReturnType<typeof setTimeout> | undefined
  delayMs: number
  isTrying: boolean
  /** Something ended while it was tried. */
  isDue: boolean
}

/** When a stalled one is tried again for what may have ended in other processes. It doubles each time. Unit: milliseconds. */
const FIRST_LOOK_MS = 100
const LONGEST_LOOK_MS = 2000

/** What a waiting upload holds besides its bytes: connection, request and headers. */
const WAITER_BYTES = 8 * 1024

const TOO_LONG = 'This upload waited too long for its turn. Please try again in a moment.'
const ADDRESS_FULL = 'This address has as many uploads waiting as it may. Please wait for some to end.'
const ALL_FULL = 'This server has as many uploads waiting as it can keep. Please try again in a moment.'

export function createLine(limits: LineLimits): Line {
  const queue = createQueue<Waiter>(limits)
  const stalls = new Map<Address<Waiter>, Stall>()
  let serial = 0

  function admitNext(): void {
    for (let address = queue.next(); address !== null; address = queue.next()) {
      void take(address, queue.takeFirst(address))
    }
  }

  async function take(address: Address<Waiter>, waiter: Waiter): Promise<boolean> {
    queue.begin(address)
    const outcome = await waiter.attempt()
    const isOver = outcome !== null || waiter.isOver !== null
    if (isOver) waiter.unwatch?.()
    else {
      wait(address, waiter)
      if (!stalls.has(address)) stall(address)
    }
    if (outcome === null && waiter.isOver !== null) waiter.refuse(waiter.isOver)
    if (outcome !== 'admitted') {
      queue.end(address)
      admitNext()
    }
    return isOver
  }

  function end(address: Address<Waiter>): void {
    queue.end(address)
    retry(address)
    admitNext()
  }

  function wait(address: Address<Waiter>, waiter: Waiter): void {
    queue.insert(address, waiter)
    if (waiter.unwatch !== null) return
    const leave = (error: Refusal) => {
      waiter.isOver = error
      drop(address, waiter, error)
    }
    const timer = setTimeout(() => leave(new Refusal('busy', TOO_LONG)), limits.waitMs)
    const ignore = waiter.client.onGone(() =>
      leave(new Refusal('malformed-multipart', 'The connection was lost before the body ended.')),
    )
    waiter.unwatch = () => {
      clearTimeout(timer)
      ignore()
    }
  }

  /** One that is being tried is told what comes of that. */
  function drop(address: Address<Waiter>, waiter: Waiter, error: Refusal): void {
    if (!queue.remove(address, waiter)) return
    waiter.unwatch?.()
    waiter.refuse(error)
    if (address.waiting.length === 0 && stalls.get(address)?.isTrying === false) unstall(address)
  }

  function stall(address: Address<Waiter>): void {
    address.isStalled = true
    const timer = setTimeout(() => retry(address), FIRST_LOOK_MS)
    stalls.set(address, { timer, delayMs: FIRST_LOOK_MS, isTrying: false, isDue: false })
  }

  function unstall(address: Address<Waiter>): void {
    clearTimeout(stalls.get(address)?.timer)
    stalls.delete(address)
    address.isStalled = false
  }

  /** Lets the first of a stalled address try. */
  function retry(address: Address<Waiter>): void {
    const stall = stalls.get(address)
    if (stall === undefined) return
    stall.isDue = stall.isTrying
    if (stall.isTrying) return
    // Without a turn it goes on like all others.
    if (address.waiting.length === 0 || !queue.hasTurn(address)) {
      unstall(address)
      return
    }
    clearTimeout(stall.timer)
    stall.isTrying = true
    void take(address, queue.takeFirst(address)).then((isOver) => {
      stall.isTrying = false
      if (isOver) {
        unstall(address)
        admitNext()
      } else if (stall.isDue) retry(address)
      else {
        stall.delayMs = Math.min(LONGEST_LOOK_MS, stall.delayMs * 2)
        stall.timer = setTimeout(() => retry(address), stall.delayMs)
      }
    })
  }

  /** The client with the most waiting uploads makes room, its latest first. Throws `Refusal('busy')`. */
  function makeRoom(address: Address<Waiter>, bytes: number): void {
    if (address.waiting.length >= limits.waitingOfAddress) throw new Refusal('busy', ADDRESS_FULL)
    while (!queue.hasRoom(bytes)) {
      const longest = queue.longest(address)
      if (longest === null) throw new Refusal('busy', ALL_FULL)
      drop(longest, longest.waiting.at(-1)!, new Refusal('busy', ALL_FULL))
    }
  }

  return {
    async enter<Admitted>(client: Client, admit: () => Promise<Admitted | null>) {
      const address = queue.address(client.address, client.network)
      const { promise, resolve, reject } = Promise.withResolvers<Turn<Admitted>>()
      const bytes = WAITER_BYTES + client.waitingBytes
      const attempt = async () => {
        try {
          const admitted = await admit()
          if (admitted === null) return null
          resolve({ admitted, end: () => end(address) })
          return 'admitted'
        } catch (error) {
          reject(error)
          return 'refused'
        }
      }
      const waiter: Waiter = {
        serial: serial++,
        bytes,
        client,
        attempt,
        refuse: reject,
        isOver: null,
        unwatch: null,
      }
      const isNext = address.waiting.length === 0 && !address.isStalled
      if (isNext && queue.hasTurn(address)) void take(address, waiter)
      else {
        makeRoom(address, bytes)
        wait(address, waiter)
      }
      return promise
    },
    counts: queue.counts,
  }
}
