/** What an upload needs before its body is read: a turn in the upload queue, room under each cap, a quota reservation, and the challenge passed. */
import { Refusal, type RefusalCode } from '../../errors.ts'
import { UNCHALLENGED_UPLOADS } from '../../protocol.ts'
import type { Challenges, Credentials, Spent } from '../challenge/challenges.ts'
import { refuseFault } from '../faults.ts'
import type { Identity } from '../images/identities.ts'
import type { Images } from '../images/images.ts'
import type { Capacity } from './capacity.ts'
import type { ClientAddress, Quota, Reservation } from './quota.ts'
import type { Turn, UploadQueue } from './upload-queue.ts'

/** Waits as `UploadQueue.enter` does. Throws `Refusal`. */
export type Admit = (upload: Arrived) => Promise<Turn<Admitted>>

export interface Arrived {
  address: ClientAddress
  identity: Identity
  /** More will not be stored. Unit: bytes. */
  maxBytes: number
  shown: Credentials
  /** Hears how many uploads the address has left, if the ledger was asked for that. */
  onRemaining(remaining: number): void
  /** Calls `act` if the client goes away. What it returns ends that. */
  onGone(act: () => void): () => void
}

export interface Admitted {
  reservation: Reservation
  spent: Spent
  /** Nothing will be stored that was not before. */
  isRepeat: boolean
}

/** What a body may leave in memory before it is read: the chunk behind the headers, and what Node reads ahead. */
const MAX_WAITING_BYTES = 128 * 1024

export function createAdmission(parts: {
  uploadQueue: UploadQueue
  capacity: Capacity
  quota: Quota
  challenges: Challenges
  images: Pick<Images, 'find'>
}): Admit {
  const { uploadQueue, capacity, quota, challenges, images } = parts

  /** `null`: it depends on uploads that are under way. */
  async function admit(upload: Arrived): Promise<Admitted | null> {
    const { address, identity, maxBytes, shown } = upload
    await capacity.assertOpen(maxBytes).catch(refuseFault)
    const free = address.isCircuit ? UNCHALLENGED_UPLOADS : 0
    const used = async () => {
      const remaining = await quota.remaining(address)
      upload.onRemaining(remaining)
      // An address with no uploads left is refused by the quota.
      return remaining === 0 ? 0 : quota.limit - remaining + free
    }
    await challenges.assertShown(shown, used).catch(refuseFault)
    try {
      const reservation = await quota.reserve(address, { id: identity.id }).catch(refuseFault)
      return reservation && { reservation, spent: await spend(reservation, shown, free), isRepeat: false }
    } catch (error) {
      // The last upload of a day may be repeated like any other.
      const mayRepeat = identity.isDerived && isRefusal(error, 'quota-exceeded')
      if (!mayRepeat || (await images.find(identity.id)) === null) throw error
      const reservation = await quota.reserve(address, { isRepeat: true }).catch(refuseFault)
      return reservation && { reservation, spent: { release() {} }, isRepeat: true }
    }
  }

  async function spend(reservation: Reservation, shown: Credentials, free: number): Promise<Spent> {
    try {
      return await challenges.spend(shown, reservation.used + free).catch(refuseFault)
    } catch (error) {
      // Verifying a worthless solution took work all the same.
      const isFalse = isRefusal(error, 'challenge-required') && Object.values(shown).some(Boolean)
      await reservation.release(isFalse ? 0 : undefined).catch(refuseFault)
      throw error
    }
  }

  return (upload) => {
    const waitingBytes = Math.min(upload.maxBytes, MAX_WAITING_BYTES)
    return uploadQueue.enter({ ...upload.address, waitingBytes, onGone: upload.onGone }, () => admit(upload))
  }
}

function isRefusal(error: unknown, code: RefusalCode): boolean {
  return error instanceof Refusal && error.code === code
}
