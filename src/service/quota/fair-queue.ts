/**
 * A fair queue: addresses take turns round robin, the uploads of each in the order of arrival. It holds the
 * counts; `line.ts` has the times.
 */

export interface QueueLimits {
  /** Uploads of one address that are read at once. */
  uploadsAtOnce: number
  /** Uploads of all addresses that are read at once. */
  uploadsRead: number
  /** What all that wait may hold in memory. Unit: bytes. */
  waitingBytes: number
}

/** An upload. */
export interface Entry {
  /** Of arrival. */
  readonly serial: number
  /** What it holds in memory at most while it waits. Unit: bytes. */
  readonly bytes: number
}

/** With at least one upload. */
export interface Address<E extends Entry> {
  readonly name: string
  readonly network: Network
  /** Uploads that have their turn. */
  reading: number
  /** In the order of arrival. */
  readonly waiting: E[]
  /** Passed over. */
  isStalled: boolean
}

interface Network {
  readonly name: string
  reading: number
  waiting: number
}

export interface Queue<E extends Entry> {
  address(name: string, network: string): Address<E>
  hasTurn(address: Address<E>): boolean
  /** Takes a turn; `end` gives it back. */
  begin(address: Address<E>): void
  end(address: Address<E>): void
  /** Behind those that came earlier, even if it was taken before. */
  insert(address: Address<E>, entry: E): void
  /** `false` if it does not wait. */
  remove(address: Address<E>, entry: E): boolean
  /** The one that waits longest. */
  takeFirst(address: Address<E>): E
  /** The next address in the round with an upload that waits and a turn for it. */
  next(): Address<E> | null
  /** Whether one more may wait beside all others. */
  hasRoom(bytes: number): boolean
  /** The address of which most waits, of the network of which most waits; `null` if that is no more than of `address`. */
  longest(address: Address<E>): Address<E> | null
  counts(): { reading: number; waiting: number }
}

export function createQueue<E extends Entry>(limits: QueueLimits): Queue<E> {
  const addresses = new Map<string, Address<E>>()
  const networks = new Map<string, Network>()
  /** Addresses with uploads that wait. The first one's turn is next. */
  const round = new Set<Address<E>>()
  let reading = 0
  let waiting = 0
  let waitingBytes = 0

  /**
   * Half of all turns are anybody's, a quarter is for addresses of which nothing is read, the last quarter for networks of
   * which nothing is read: a few hundred addresses that send as slowly as they may keep nobody out.
   */
  function hasTurn({ reading: ofAddress, network }: Address<E>): boolean {
    if (ofAddress >= limits.uploadsAtOnce || reading >= limits.uploadsRead) return false
    if (reading < limits.uploadsRead / 2) return true
    return reading < limits.uploadsRead * 0.75 ? ofAddress === 0 : network.reading === 0
  }

  function count(address: Address<E>, change: 1 | -1): void {
    reading += change
    address.reading += change
    address.network.reading += change
    forget(address)
  }

  function countWaiting(address: Address<E>, { bytes }: E, change: 1 | -1): void {
    waiting += change
    waitingBytes += change * bytes
    address.network.waiting += change
    forget(address)
  }

  function forget({ name, network, reading, waiting }: Address<E>): void {
    if (reading === 0 && waiting.length === 0) addresses.delete(name)
    if (network.reading === 0 && network.waiting === 0) networks.delete(network.name)
  }

  function remove(address: Address<E>, entry: E): boolean {
    const at = address.waiting.indexOf(entry)
    if (at < 0) return false
    address.waiting.splice(at, 1)
    if (address.waiting.length === 0) round.delete(address)
    countWaiting(address, entry, -1)
    return true
  }

  /** One network may have many addresses. */
  function compare(one: Address<E>, other: Address<E>): number {
    return one.network.waiting - other.network.waiting || one.waiting.length - other.waiting.length
  }

  return {
    address(name, networkName) {
      const known = addresses.get(name)
      if (known !== undefined) return known
      const network = networks.get(networkName) ?? { name: networkName, reading: 0, waiting: 0 }
      return { name, network, reading: 0, waiting: [], isStalled: false }
    },
    hasTurn,
    begin(address) {
      enlist(address)
      count(address, 1)
    },
    end: (address) => count(address, -1),
    insert(address, entry) {
      enlist(address)
      const later = address.waiting.findIndex(({ serial }) => serial > entry.serial)
      address.waiting.splice(later < 0 ? address.waiting.length : later, 0, entry)
      round.add(address)
      countWaiting(address, entry, 1)
    },
    remove,
    takeFirst(address) {
      const entry = address.waiting[0]!
      remove(address, entry)
      if (round.delete(address)) round.add(address)
      return entry
    },
    next() {
      if (reading >= limits.uploadsRead) return null
      for (const address of round) if (!address.isStalled && hasTurn(address)) return address
      return null
    },
    hasRoom: (bytes) => waitingBytes + bytes <= limits.waitingBytes,
    longest(address) {
      let most = address
      for (const other of round) if (compare(other, most) > 0) most = other
      return most === address ? null : most
    },
    counts: () => ({ reading, waiting }),
  }

  function enlist(address: Address<E>): void {
    addresses.set(address.name, address)
    networks.set(address.network.name, address.network)
  }
}
