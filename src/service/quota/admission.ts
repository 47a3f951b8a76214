/** What an upload needs before its body is read: a turn in the line, no cap in the way, a reservation of its quota. */
import { Refusal, type RefusalCode } from '../../errors.ts'
import { refuseFault } from '../faults.ts'
import type { Identity } from '../images/identities.ts'
import type { Images } from '../images/images.ts'
import type { Capacity } from './capacity.ts'
import type { Line, Turn } from './line.ts'
import type { ClientAddress, Quota, Reservation } from './quota.ts'

export interface Admission {
  /** Waits as `Line.enter` does. Throws `Refusal`. */
  enter(upload: Arrived): Promise<Turn<Admitted>>
}

export interface Arrived {
  address: ClientAddress
  identity: Identity
  /** More will not be stored. Unit: bytes. */
  mostBytes: number
  /** Calls `act` if the client goes away. What it returns ends that. */
  onGone(act: () => void): () => void
}

export interface Admitted {
  reservation: Reservation
  /** Nothing will be stored that was not before. */
  isRepeat: boolean
}

/** What a body may leave in memory before it is read: the chunk behind the headers, and what Node reads ahead. */
const MOST_WAITING_BYTES = 128 * 1024

export function createAdmission(parts: {
  line: Line
  capacity: Capacity
  quota: Quota
  images: Pick<Images, 'find'>
}): Admission {
  const { line, capacity, quota, images } = parts

  /** `null`: it depends on uploads that are under way. */
  async function admit({ address, identity, mostBytes }: Arrived): Promise<Admitted | null> {
    await capacity.assertOpen(mostBytes).catch(refuseFault)
    try {
      const reservation = await quota.reserve(address, { id: identity.id }).catch(refuseFault)
      return reservation && { reservation, isRepeat: false }
    } catch (error) {
      // The last upload of a day may be repeated like any other.
      const mayRepeat = identity.isDerived && isRefusal(error, 'quota-exceeded')
      if (!mayRepeat || (await images.find(identity.id)) === null) throw error
      const reservation = await quota.reserve(address, { isRepeat: true }).catch(refuseFault)
      return reservation && { reservation, isRepeat: true }
    }
  }

  return {
    enter(upload) {
      const waitingBytes = Math.min(upload.mostBytes, MOST_WAITING_BYTES)
      return line.enter({ ...upload.address, waitingBytes, onGone: upload.onGone }, () => admit(upload))
    },
  }
}

function isRefusal(error: unknown, code: RefusalCode): boolean {
  return error instanceof Refusal && error.code === code
}
