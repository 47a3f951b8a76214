/**
 * Queue of uploads whose bodies are not read yet (docs/decisions/036). Limits concurrent uploads per address and in total.
 * Fair: round robin over addresses, FIFO within each. In memory, per process.
 */
import { Refusal } from '../../errors.ts'
import type { ClientAddress } from './quota.ts'

export interface UploadQueueLimits {
  /** Concurrent uploads per address. */
  uploadsAtOnce: number
  /** Concurrent uploads in total. */
  maxConcurrentReads: number
  /** Maximum time in the queue. Unit: milliseconds. */
  waitMs: number
  /** Maximum number of waiting uploads per address. */
  maxWaitingPerAddress: number
  /** Maximum memory of all waiting uploads. Unit: bytes. */
  waitingBytes: number
}

export interface Client extends ClientAddress {
  /** Maximum memory it uses while it waits. Unit: bytes. */
  waitingBytes: number
  /** Registers a listener for a client disconnect. Returns a function that removes it. */
  onDisconnect(listener: () => void): () => void
}

export interface Slot<Admitted> {
  admitted: Admitted
  /** Frees the slot for the next upload. Call it exactly once, when the upload has ended. */
  end(): void
}

export interface UploadQueue {
  /**
   * Waits for a free slot, then calls `admit`. If `admit` resolves to `null`, admission depends on uploads in flight: the
   * client keeps waiting at the head of its address's queue, and `admit` is called again when an upload of the address ends
   * in this process, or may have ended in another. Throws whatever `admit` throws; `Refusal('busy')` if the queue is full or
   * the wait is too long; `Refusal('malformed-multipart')` if the client disconnects while waiting.
   */
  enter<Admitted>(client: Client, admit: () => Promise<Admitted | null>): Promise<Slot<Admitted>>
  /** Number of uploads being read, and waiting. */
  counts(): { reading: number; waiting: number }
}

/** An address with at least one upload. */
interface Address {
  readonly name: string
  readonly network: Network
  /** Uploads that have a slot. */
  reading: number
  /** In order of arrival. */
  readonly waiting: Waiter[]
  /** Set while the first upload waits for others to end; resolved when one of them may have ended. Otherwise `null`. */
  retrySignal: PromiseWithResolvers<void> | null
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
  /** Calls `admit`. `null`: must keep waiting. Never rejects. */
  attempt(): Promise<'admitted' | 'refused' | null>
  refuse(error: Refusal): void
  /** Set if it must leave the queue (timeout or disconnect) in case its current attempt does not succeed. */
  leaveReason: Refusal | null
  /** Removes its timer and listener. `null` until it waits. */
  unwatch: (() => void) | null
}

/**
 * Retry delays while admission depends on uploads that may have ended in other processes. Doubles each time. Unit:
 * milliseconds.
 */
const FIRST_RETRY_MS = 100
const MAX_RETRY_MS = 2000

/** Memory overhead of a waiting upload: connection, request and headers. */
const WAITER_BYTES = 8 * 1024

const TOO_LONG = 'This upload waited too long in the queue. Please try again in a moment.'
const ADDRESS_FULL =
  'Too many uploads from this address are waiting already. Please wait for some of them to finish.'
const ALL_FULL = 'The upload queue of this server is full. Please try again in a moment.'
const GONE = 'The connection was lost before the body ended.'

export function createUploadQueue(limits: UploadQueueLimits): UploadQueue {
  const addresses = new Map<string, Address>()
  const networks = new Map<string, Network>()
  /** Addresses with waiting uploads, in round-robin order. */
  const rotation = new Set<Address>()
  let serial = 0
  let reading = 0
  let waiting = 0
  let waitingBytes = 0

  function addressOf({ address: name, network: networkName }: Client): Address {
    const known = addresses.get(name)
    if (known !== undefined) return known
    const network = networks.get(networkName) ?? { name: networkName, reading: 0, waiting: 0 }
    return { name, network, reading: 0, waiting: [], retrySignal: null }
  }

  /** Keeps an address and its network in the maps as long as they have uploads. */
  function updateMaps(address: Address): void {
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
    updateMaps(address)
  }

  function countWaiting(address: Address, { bytes }: Waiter, change: 1 | -1): void {
    waiting += change
    waitingBytes += change * bytes
    address.network.waiting += change
    updateMaps(address)
  }

  /**
   * Half of all slots are open to everyone. The third quarter is reserved for addresses without an upload being read, the
   * last quarter for networks without one. So a few hundred addresses that upload as slowly as possible cannot lock others
   * out.
   */
  function hasSlot({ reading: ofAddress, network }: Address): boolean {
    if (ofAddress >= limits.uploadsAtOnce || reading >= limits.maxConcurrentReads) return false
    if (reading < limits.maxConcurrentReads / 2) return true
    return reading < limits.maxConcurrentReads * 0.75 ? ofAddress === 0 : network.reading === 0
  }

  function next(): Address | null {
    if (reading >= limits.maxConcurrentReads) return null
    for (const address of rotation) if (address.retrySignal === null && hasSlot(address)) return address
    return null
  }

  function admitNext(): void {
    for (let address = next(); address !== null; address = next()) void tryFirst(address)
  }

  /** Tries to admit the address's oldest upload, and moves the address to the end of the rotation. */
  function tryFirst(address: Address): Promise<boolean> {
    const first = address.waiting[0]!
    remove(address, first)
    if (rotation.delete(address)) rotation.add(address)
    return tryOne(address, first)
  }

  /** `false` if the upload was neither admitted nor refused and keeps waiting. */
  async function tryOne(address: Address, waiter: Waiter): Promise<boolean> {
    countReading(address, 1)
    const outcome = await waiter.attempt()
    const keepsWaiting = outcome === null && waiter.leaveReason === null
    if (keepsWaiting) {
      insert(address, waiter)
      if (address.retrySignal === null) void retryFirst(address)
    } else waiter.unwatch?.()
    if (outcome === null && waiter.leaveReason !== null) waiter.refuse(waiter.leaveReason)
    if (outcome !== 'admitted') {
      countReading(address, -1)
      admitNext()
    }
    return !keepsWaiting
  }

  /**
   * Retries the address's first upload until it is admitted or refused. Stops when the address has no slot; the upload then
   * waits like all others.
   */
  async function retryFirst(address: Address): Promise<void> {
    let isDone = false
    address.retrySignal = Promise.withResolvers()
    for (let delayMs = FIRST_RETRY_MS; !isDone; delayMs = Math.min(MAX_RETRY_MS, delayMs * 2)) {
      const timer = setTimeout(address.retrySignal.resolve, delayMs)
      await address.retrySignal.promise
      clearTimeout(timer)
      // Renewed before the attempt, so that an upload that ends during it is not missed.
      address.retrySignal = Promise.withResolvers()
      isDone = address.waiting.length === 0 || !hasSlot(address) || (await tryFirst(address))
    }
    address.retrySignal = null
    admitNext()
  }

  function end(address: Address): void {
    countReading(address, -1)
    address.retrySignal?.resolve()
    admitNext()
  }

  /** Inserts by order of arrival, even if it was tried before. */
  function insert(address: Address, waiter: Waiter): void {
    const index = address.waiting.findIndex(({ serial }) => serial > waiter.serial)
    address.waiting.splice(index < 0 ? address.waiting.length : index, 0, waiter)
    rotation.add(address)
    countWaiting(address, waiter, 1)
    waiter.unwatch ??= watch(address, waiter)
  }

  /** `false` if it is not in the queue because an attempt is in progress. */
  function remove(address: Address, waiter: Waiter): boolean {
    const at = address.waiting.indexOf(waiter)
    if (at < 0) return false
    address.waiting.splice(at, 1)
    if (address.waiting.length === 0) rotation.delete(address)
    countWaiting(address, waiter, -1)
    return true
  }

  function watch(address: Address, waiter: Waiter): () => void {
    const leave = (error: Refusal) => {
      waiter.leaveReason = error
      drop(address, waiter, error)
    }
    const timer = setTimeout(() => leave(new Refusal('busy', TOO_LONG)), limits.waitMs)
    const removeListener = waiter.client.onDisconnect(() => leave(new Refusal('malformed-multipart', GONE)))
    return () => {
      clearTimeout(timer)
      removeListener()
    }
  }

  /** Refuses a waiting upload. One that is being tried is left to its attempt. */
  function drop(address: Address, waiter: Waiter, error: Refusal): void {
    if (!remove(address, waiter)) return
    waiter.unwatch?.()
    waiter.refuse(error)
    if (address.waiting.length === 0) address.retrySignal?.resolve()
  }

  /**
   * Makes room by refusing the newest upload of the address with the most waiting uploads, in the network with the most
   * waiting uploads. Throws `Refusal('busy')` if that is `address` itself.
   */
  function makeRoom(address: Address, bytes: number): void {
    if (address.waiting.length >= limits.maxWaitingPerAddress) throw new Refusal('busy', ADDRESS_FULL)
    while (waitingBytes + bytes > limits.waitingBytes) {
      let largest = address
      for (const other of rotation) if (hasMoreWaiting(other, largest)) largest = other
      if (largest === address) throw new Refusal('busy', ALL_FULL)
      drop(largest, largest.waiting.at(-1)!, new Refusal('busy', ALL_FULL))
    }
  }

  return {
    async enter<Admitted>(client: Client, admit: () => Promise<Admitted | null>) {
      const address = addressOf(client)
      const { promise, resolve, reject } = Promise.withResolvers<Slot<Admitted>>()
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
        leaveReason: null,
        unwatch: null,
      }
      const isFirst = address.waiting.length === 0 && address.retrySignal === null
      if (isFirst && hasSlot(address)) void tryOne(address, waiter)
      else {
        makeRoom(address, bytes)
        insert(address, waiter)
      }
      return promise
    },
    counts: () => ({ reading, waiting }),
  }
}

/** Compares by network first, as one network may have many addresses. */
function hasMoreWaiting(one: Address, other: Address): boolean {
  const difference = one.network.waiting - other.network.waiting || one.waiting.length - other.waiting.length
  return difference > 0
}
