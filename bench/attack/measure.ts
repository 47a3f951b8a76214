/** Measures the cost of an attack for the server and for another client. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  descriptors,
  peakMegabytes,
  processorSeconds,
  readMegabytes,
  resetPeak,
} from '../../test/support/attack/process-costs.ts'
import { probe } from '../load/timed-get.ts'
import type { Order } from './attacker.ts'

export interface Costs {
  /** 99th percentile of the other client's requests. Unit: milliseconds. */
  p99: number
  /** Peak resident memory. Unit: MB. */
  resident: number
  /** Number of leaked file descriptors, after a grace period. */
  left: number
  /** CPU time. Unit: seconds. */
  cpu: number
  /** Amount of data that the server read. Unit: MB. */
  received: number
  sent: { bytes: number; connections: number }
  /** Unit: seconds. */
  took: number
}

/** Gives 200 requests in 1.5 seconds. A percentile of fewer would be less meaningful. */
const PROBE_EVERY_MS = 7.5

/** Grace period for resources that are released after the attack: drained connections, drafts. */
const GRACE_MS = 8000

export async function costsOf(
  pid: number,
  probedUrl: string,
  attack: () => Promise<Costs['sent']>,
): Promise<Costs> {
  const before = descriptors(pid)
  resetPeak(pid)
  const [spent, read, since] = [processorSeconds(pid), readMegabytes(pid), performance.now()]
  const end = new AbortController()
  const others = probe(probedUrl, end.signal, PROBE_EVERY_MS)
  const sent = await attack()
  end.abort()
  const times = await others
  const costs = {
    p99: times[Math.floor(times.length * 0.99)]!,
    resident: peakMegabytes(pid),
    cpu: processorSeconds(pid) - spent,
    received: readMegabytes(pid) - read,
    took: (performance.now() - since) / 1000,
    sent,
  }
  const deadline = performance.now() + GRACE_MS
  while (descriptors(pid) > before && performance.now() < deadline) await sleep(100)
  return { ...costs, left: Math.max(0, descriptors(pid) - before) }
}

export interface Attacker {
  attack(order: Order): Promise<Costs['sent']>
  stop(): void
}

/** One process for all attacks: starting a process costs others more than some attacks. */
export function startAttacker(): Attacker {
  const child = fork(path.join(import.meta.dirname, 'attacker.ts'))
  let isStopping = false
  child.once('exit', () => {
    if (!isStopping) throw new Error('the attacker died')
  })
  return {
    async attack(order) {
      child.send(order)
      const [sent] = await once(child, 'message')
      return sent
    },
    stop() {
      isStopping = true
      child.kill()
    },
  }
}

export async function nothing(seconds: number): Promise<Costs['sent']> {
  await sleep(seconds * 1000)
  return { bytes: 0, connections: 0 }
}
