/**
 * Loaded into each test file: no case begins shortly before midnight UTC. The service counts by UTC days, so a day that
 * ends in the middle of a case gives everybody a new quota.
 */
import { beforeEach } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { secondsToNextDay } from '../../src/service/utc-day.ts'

/** Longer than what a case counts takes, on a busy machine. */
const CASE_SECONDS = 90

beforeEach(async () => {
  const left = secondsToNextDay(Date.now())
  if (left < CASE_SECONDS) await sleep(1000 * left)
})
