/**
 * Loaded into each test file: no case begins shortly before midnight UTC. The service counts by UTC days, so a day that
 * ends in the middle of a case gives everybody a new quota.
 */
import { beforeEach } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

const DAY_MS = 86_400_000

/** Longer than what a case counts takes, on a busy machine. */
const CASE_MS = 90_000

beforeEach(async () => {
  const left = DAY_MS - (Date.now() % DAY_MS)
  if (left < CASE_MS) await sleep(left + 1000)
})
