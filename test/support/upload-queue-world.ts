/** An upload queue in front of a simulated quota, with a log of all uploads. The clock is `mock.timers`. */
import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Refusal } from '../../src/errors.ts'
import {
  createUploadQueue,
  type Slot,
  type UploadQueue,
  type UploadQueueLimits,
} from '../../src/service/quota/upload-queue.ts'

export const LIMITS: UploadQueueLimits = {
  uploadsAtOnce: 3,
  maxConcurrentReads: 8,
  waitMs: 3000,
  maxWaitingPerAddress: 6,
  waitingBytes: 20 * 10_000,
}
/** Bytes that one upload occupies. */
const BYTES = 10_000 - 8 * 1024
/** Quota per address. */
export const PLACES = 5
/** Interval between clock ticks. */
export const STEP_MS = 100

type Result = 'stored' | 'gave-back' | 'busy' | 'quota-exceeded' | 'malformed-multipart'

interface Upload {
  address: number
  arrivedAt: number
  /** Position among the admitted uploads of its address. `null` before its turn. */
  position: number | null
  turn: Slot<true> | null
  result: Result | null
  endedAt: number
  leave: (() => void) | null
}

export function createWorld(limits: Partial<UploadQueueLimits> = {}) {
  const line: UploadQueue = createUploadQueue({ ...LIMITS, ...limits })
  const uploads: Upload[] = []
  /** By address: reservations of this process, reservations of other processes, and stored images. */
  const quota = Array.from({ length: 20 }, () => ({ held: 0, elsewhere: 0, stored: 0 }))
  const turns = new Map<number, number>()
  /** Addresses in the order of their turns. */
  const had: number[] = []
  let nowMs = 0

  const of = (address: number) => uploads.filter((upload) => upload.address === address)
  const reading = () => uploads.filter(({ turn, result }) => turn !== null && result === null)
  const waiting = () => uploads.filter(({ turn, result }) => turn === null && result === null)

  async function admit(upload: Upload): Promise<true | null> {
    const places = quota[upload.address]!
    if (places.stored + places.held + places.elsewhere < PLACES) {
      places.held++
      const position = (turns.get(upload.address) ?? 0) + 1
      turns.set(upload.address, position)
      upload.position = position
      had.push(upload.address)
      return true
    }
    if (places.held + places.elsewhere > 0) return null
    throw new Refusal('quota-exceeded', 'the quota is used up')
  }

  const world = {
    line,
    uploads,
    quota,
    had,
    reading,
    waiting,
    arrive(address: number, network = address >> 1): Upload {
      const upload: Upload = {
        address,
        arrivedAt: nowMs,
        position: null,
        turn: null,
        result: null,
        endedAt: 0,
        leave: null,
      }
      uploads.push(upload)
      const client = {
        address: `${address}`,
        network: `${network}`,
        waitingBytes: BYTES,
        onDisconnect(listener: () => void) {
          upload.leave = listener
          return () => {
            upload.leave = null
          }
        },
      }
      line
        .enter(client, () => admit(upload))
        .then(
          (turn) => {
            upload.turn = turn
          },
          (error: Refusal) => {
            upload.result = error.code as Result
            upload.endedAt = nowMs
          },
        )
      return upload
    },
    end(upload: Upload, isStored: boolean) {
      const places = quota[upload.address]!
      places.held--
      if (isStored) places.stored++
      upload.result = isStored ? 'stored' : 'gave-back'
      upload.turn!.end()
    },
    settle: async () => {
      for (let tick = 0; tick < 3; tick++) await nextTurn()
    },
    async pass(ms: number) {
      for (let left = ms; left > 0; left -= STEP_MS) {
        nowMs += STEP_MS
        mock.timers.tick(STEP_MS)
        await world.settle()
      }
    },
    /** Asserts the invariants. */
    check() {
      assert.deepEqual(line.counts(), { reading: reading().length, waiting: waiting().length })
      assert.ok(reading().length <= LIMITS.maxConcurrentReads)
      assert.ok(waiting().length <= 20)
      for (const upload of waiting())
        assert.ok(nowMs - upload.arrivedAt < LIMITS.waitMs, 'no upload waits longer than the limit')
      for (const [address, places] of quota.entries()) {
        const own = of(address)
        const ownReading = own.filter((upload) => reading().includes(upload))
        const ownWaiting = own.filter((upload) => waiting().includes(upload))
        assert.ok(ownReading.length <= LIMITS.uploadsAtOnce, 'concurrent uploads of an address')
        assert.ok(ownWaiting.length <= LIMITS.maxWaitingPerAddress)
        assert.ok(places.stored + places.held + places.elsewhere <= PLACES, 'the quota is never exceeded')
        assert.equal(places.held, ownReading.length, 'no reservation leaks')
        const order = own.filter(({ position }) => position !== null).map(({ position }) => position!)
        assert.deepEqual(
          order,
          order.toSorted((a, b) => a - b),
          'in the order of arrival',
        )
        const hasPlace = places.stored + places.held < PLACES && places.elsewhere === 0
        const hasTurn =
          ownReading.length < LIMITS.uploadsAtOnce && reading().length < LIMITS.maxConcurrentReads / 2
        assert.ok(
          ownWaiting.length === 0 || !hasPlace || !hasTurn || world.isBehindOthers,
          'no upload waits needlessly',
        )
      }
    },
    /** Other processes have changed their reservations, which the queue only notices when it polls. */
    isBehindOthers: false,
  }
  return world
}
