/**
 * Admission of uploads, before the body is read: a slot from the upload queue, capacity under each cap, a quota reservation
 * and, if challenges are on, a solution or a pass.
 */
import { Refusal, type RefusalCode } from '../../errors.ts'
import type { Challenges, Credentials, Spent } from '../challenge/challenges.ts'
import { refuseFault } from '../faults.ts'
import type { Identity } from '../images/identities.ts'
import type { Images } from '../images/images.ts'
import type { Capacity } from './capacity.ts'
import { type ClientAddress, countedAsUsed, type Quota, type Reservation } from './quota.ts'
import type { Slot, UploadQueue } from './upload-queue.ts'

/** Waits like `UploadQueue.enter`. Throws `Refusal`. */
export type Admit = (upload: AdmissionRequest) => Promise<Slot<Admitted>>

export interface AdmissionRequest {
  address: ClientAddress
  identity: Identity
  /** Upper bound of what will be stored. Unit: bytes. */
  maxBytes: number
  credentials: Credentials
  /** Called with the address's remaining uploads, if they were looked up. */
  onRemaining(remaining: number): void
  /** Registers a listener for a client disconnect. Returns a function that removes it. */
  onDisconnect(listener: () => void): () => void
}

export interface Admitted {
  reservation: Reservation
  spent: Spent
  /** A retry of an upload that was already stored: nothing new will be stored. */
  isRepeat: boolean
}

/** Memory that an unread body can occupy: the chunk received with the headers, and Node's read-ahead. */
const MAX_WAITING_BYTES = 128 * 1024

/** Refusals of images that would be stored. */
const NO_ROOM = ['quota-exceeded', 'network-quota-exceeded', 'capacity-reached', 'storage-full'] as const

export function createAdmission(parts: {
  uploadQueue: Pick<UploadQueue, 'enter'>
  capacity: Capacity
  quota: Quota
  challenges: Challenges
  images: Pick<Images, 'exists'>
}): Admit {
  const { uploadQueue, capacity, quota, challenges, images } = parts

  /** `null` if it depends on uploads in flight. */
  async function admit(upload: AdmissionRequest): Promise<Admitted | null> {
    const { address, identity, maxBytes, credentials } = upload
    try {
      await capacity.assertOpen(maxBytes).catch(refuseFault)
      const used = async () => {
        const remaining = await quota.remaining(address)
        upload.onRemaining(remaining)
        // The quota will refuse an address without remaining uploads.
        return remaining === 0 ? 0 : quota.limit - remaining + countedAsUsed(address)
      }
      await challenges.assertPresent(credentials, used).catch(refuseFault)
      const reservation = await quota.reserve(address, { id: identity.id }).catch(refuseFault)
      if (reservation === null) return null
      const spent = await spend(reservation, upload)
      return { reservation, spent, isRepeat: false }
    } catch (error) {
      // A retry of a stored upload is allowed even when there is no room for another image.
      const mayRepeat = identity.isDerived && isRefusal(error, ...NO_ROOM)
      if (!mayRepeat || !(await images.exists(identity.id))) throw error
      const reservation = await quota.reserve(address, { isRepeat: true }).catch(refuseFault)
      return reservation && { reservation, spent: { release() {} }, isRepeat: true }
    }
  }

  async function spend(reservation: Reservation, { address, credentials }: AdmissionRequest): Promise<Spent> {
    try {
      return await challenges.spend(credentials, reservation.used + countedAsUsed(address)).catch(refuseFault)
    } catch (error) {
      // Invalid credentials count as a refused upload, as verifying them took work.
      const isInvalid = isRefusal(error, 'challenge-required') && Object.values(credentials).some(Boolean)
      await reservation.release(isInvalid ? 0 : undefined).catch(refuseFault)
      throw error
    }
  }

  return (upload) => {
    const waitingBytes = Math.min(upload.maxBytes, MAX_WAITING_BYTES)
    return uploadQueue.enter({ ...upload.address, waitingBytes, onDisconnect: upload.onDisconnect }, () =>
      admit(upload),
    )
  }
}

function isRefusal(error: unknown, ...codes: RefusalCode[]): boolean {
  return error instanceof Refusal && codes.includes(error.code)
}
