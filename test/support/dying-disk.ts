/**
 * A process that dies, as its disk sees it: from one call on, none is carried out any more. In this process, so that a
 * test can try every call of an act.
 */
import { meetDiskCalls } from './processes/disk-calls.ts'

let left: number | null = null

/** Runs `act` and dies just before its `step`-th call. True if it had so many. */
export async function dyingAt(step: number, act: () => Promise<unknown>): Promise<boolean> {
  left = step
  try {
    await act()
  } catch (error) {
    if (left > 0) throw error
  }
  const died = left < 0
  left = null
  return died
}

await meetDiskCalls({ handles: ['sync'], promises: ['rename', 'unlink', 'open'] }, () => {
  if (left === null || left-- > 0) return
  left = -1
  throw new Error('this process died')
})
