/**
 * Preloaded into each test file: delays cases that would begin shortly before midnight UTC. The service counts by UTC days,
 * so a day that ends in the middle of a case would reset everyone's quota.
 */
import { beforeEach } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { secondsToNextDay } from '../../src/utc-day.ts'

/** Longer than the counting part of any case, on a busy machine. */
const CASE_SECONDS = 90

beforeEach(async () => {
  const left = secondsToNextDay(Date.now())
  if (left < CASE_SECONDS) await sleep(1000 * left)
})
