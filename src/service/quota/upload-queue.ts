/**
 * The line in which uploads wait, unread, for their turn to be read (docs/decisions/036). It bounds what is read at once,
 * of an address and of all: addresses take turns round robin, the uploads of each in the order of arrival. In memory, of this
 * process alone.
 */
import { Refusal } from '../../errors.ts'
import type { ClientAddress } from './quota.ts'

export interface UploadQueueLimits {
  /** Uploads of one address that are read at once. */
  uploadsAtOnce: number
  /** Uploads of all addresses that are read at once. */
  uploadsRead: number
  /** How long an upload waits for its turn. Unit: milliseconds. */
  waitMs: number
  /** Uploads of one address that wait. */
  waitingOfAddress: number
  /** What all that wait may hold in memory. Unit: bytes. */
  waitingBytes: number
}

export interface Client extends ClientAddress {
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

export interface UploadQueue {
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

/** With at least one upload. */
interface Address {
  readonly name: string
  readonly network: Network
  /** Uploads that have their turn. */
  reading: number
  /** In the order of arrival. */
  readonly waiting: Waiter[]
  /** While its first upload waits for others to end: resolved when one of them may have. Else `null`. */
  another: PromiseWithResolvers<void> | null
}

interface Network {
  readonly name: string
  reading: number
  waiting: number
}

interface Waiter {
  /** Position in the order of arrival. */
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

/** When one that depends on others tries again, as some may have ended elsewhere. It doubles each time. Unit: milliseconds. */
const FIRST_LOOK_MS = 100
const MAX_LOOK_MS = 2000

/** What a waiting upload holds besides its bytes: connection, request and headers. */
const WAITER_BYTES = 8 * 1024

const TOO_LONG = 'This upload waited too long for its turn. Please try again in a moment.'
const ADDRESS_FULL = 'This address has as many uploads waiting as it may. Please wait for some to end.'
const ALL_FULL = 'This server has as many uploads waiting as it can keep. Please try again in a moment.'
const GONE = 'The connection was lost before the body ended.'

export function createUploadQueue(limits: UploadQueueLimits): UploadQueue {
  const addresses = new Map<string, Address>()
  const networks = new Map<string, Network>()
  /** Addresses with uploads that wait. The first one's turn is next. */
  const round = new Set<Address>()
  let serial = 0
  let reading = 0
  let waiting = 0
  let waitingBytes = 0

  function addressOf({ address: name, network: networkName }: Client): Address {
    const known = addresses.get(name)
    if (known !== undefined) return known
    const network = networks.get(networkName) ?? { name: networkName, reading: 0, waiting: 0 }
    return { name, network, reading: 0, waiting: [], another: null }
  }

  /** Remembers an address and its network as long as they have uploads. */
  function remember(address: Address): void {
    const { name, network } = address
    if (address.reading > 0 || address.waiting.length > 0) addresses.set(name, address)
    else addresses.delete(name)
    if (network.reading > 0 || network.waiting > 0) networks.set(network.name, network)
    else networks.delete(network.name)
  }

  function countReading(address: Address, change: 1 | -1): void {
    reading += change
    address.reading += change
    address.network.reading += change
    remember(address)
  }

  function countWaiting(address: Address, { bytes }: Waiter, change: 1 | -1): void {
    waiting += change
    waitingBytes += change * bytes
    address.network.waiting += change
    remember(address)
  }

  /**
   * Half of all turns are anybody's, a quarter is for addresses of which nothing is read, the last quarter for networks of
   * which nothing is read: a few hundred addresses that send as slowly as they may keep nobody out.
   */
  function hasTurn({ reading: ofAddress, network }: Address): boolean {
    if (ofAddress >= limits.uploadsAtOnce || reading >= limits.uploadsRead) return false
    if (reading < limits.uploadsRead / 2) return true
    return reading < limits.uploadsRead * 0.75 ? ofAddress === 0 : network.reading === 0
  }

  /** The next address in the round with a turn. */
  function next(): Address | null {
    if (reading >= limits.uploadsRead) return null
    for (const address of round) if (address.another === null && hasTurn(address)) return address
    return null
  }

  function admitNext(): void {
    for (let address = next(); address !== null; address = next()) void tryFirst(address)
  }

  /** Tries the upload that waits longest, and moves its address to the end of the round. */
  function tryFirst(address: Address): Promise<boolean> {
    const first = address.waiting[0]!
    remove(address, first)
    if (round.delete(address)) round.add(address)
    return tryOne(address, first)
  }

  /** `false` if nothing came of it, and it waits on. */
  async function tryOne(address: Address, waiter: Waiter): Promise<boolean> {
    countReading(address, 1)
    const outcome = await waiter.attempt()
    const waitsOn = outcome === null && waiter.isOver === null
    if (waitsOn) {
      insert(address, waiter)
      if (address.another === null) void tryAgain(address)
    } else waiter.unwatch?.()
    if (outcome === null && waiter.isOver !== null) waiter.refuse(waiter.isOver)
    if (outcome !== 'admitted') {
      countReading(address, -1)
      admitNext()
    }
    return !waitsOn
  }

  /**
   * Retries the first upload of an address until it is admitted or refused. Stops when the address has no turn: then it waits as
   * all others do.
   */
  async function tryAgain(address: Address): Promise<void> {
    let isOver = false
    address.another = Promise.withResolvers()
    for (let delayMs = FIRST_LOOK_MS; !isOver; delayMs = Math.min(MAX_LOOK_MS, delayMs * 2)) {
      const timer = setTimeout(address.another.resolve, delayMs)
      await address.another.promise
      clearTimeout(timer)
      // Made before the attempt, so that no upload that ends during it is missed.
      address.another = Promise.withResolvers()
      isOver = address.waiting.length === 0 || !hasTurn(address) || (await tryFirst(address))
    }
    address.another = null
    admitNext()
  }

  function end(address: Address): void {
    countReading(address, -1)
    address.another?.resolve()
    admitNext()
  }

  /** Behind those that came earlier, even if it was tried before. */
  function insert(address: Address, waiter: Waiter): void {
    const later = address.waiting.findIndex(({ serial }) => serial > waiter.serial)
    address.waiting.splice(later < 0 ? address.waiting.length : later, 0, waiter)
    round.add(address)
    countWaiting(address, waiter, 1)
    waiter.unwatch ??= watch(address, waiter)
  }

  /** `false` if it does not wait: it is being tried. */
  function remove(address: Address, waiter: Waiter): boolean {
    const at = address.waiting.indexOf(waiter)
    if (at < 0) return false
    address.waiting.splice(at, 1)
    if (address.waiting.length === 0) round.delete(address)
    countWaiting(address, waiter, -1)
    return true
  }

  function watch(address: Address, waiter: Waiter): () => void {
    const leave = (error: Refusal) => {
      waiter.isOver = error
      drop(address, waiter, error)
    }
    const timer = setTimeout(() => leave(new Refusal('busy', TOO_LONG)), limits.waitMs)
    const ignore = waiter.client.onGone(() => leave(new Refusal('malformed-multipart', GONE)))
    return () => {
      clearTimeout(timer)
      ignore()
    }
  }

  /** One that is being tried is told what comes of that. */
  function drop(address: Address, waiter: Waiter, error: Refusal): void {
    if (!remove(address, waiter)) return
    waiter.unwatch?.()
    waiter.refuse(error)
    if (address.waiting.length === 0) address.another?.resolve()
  }

  /**
   * Makes room by refusing the latest upload of the address that has most waiting, in the network that has most waiting. Throws
   * `Refusal('busy')` if that is `address` itself.
   */
  function makeRoom(address: Address, bytes: number): void {
    if (address.waiting.length >= limits.waitingOfAddress) throw new Refusal('busy', ADDRESS_FULL)
    while (waitingBytes + bytes > limits.waitingBytes) {
      let most = address
      for (const other of round) if (waitsMore(other, most)) most = other
      if (most === address) throw new Refusal('busy', ALL_FULL)
      drop(most, most.waiting.at(-1)!, new Refusal('busy', ALL_FULL))
    }
  }

  return {
    async enter<Admitted>(client: Client, admit: () => Promise<Admitted | null>) {
      const address = addressOf(client)
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
      const isFirst = address.waiting.length === 0 && address.another === null
      if (isFirst && hasTurn(address)) void tryOne(address, waiter)
      else {
        makeRoom(address, bytes)
        insert(address, waiter)
      }
      return promise
    },
    counts: () => ({ reading, waiting }),
  }
}

/** One network may have many addresses. */
function waitsMore(one: Address, other: Address): boolean {
  const more = one.network.waiting - other.network.waiting || one.waiting.length - other.waiting.length
  return more > 0
}
