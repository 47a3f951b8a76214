/** What an attack costs the server, and another client of it. */
import { execFile } from 'node:child_process'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import {
  descriptors,
  forgetPeak,
  peakMegabytes,
  processorSeconds,
  readMegabytes,
} from '../../test/support/attack/process-costs.ts'
import { probe } from '../load/probe.ts'
import type { Order } from './attacker.ts'

export interface Costs {
  /** Of the other client's requests. Unit: milliseconds. */
  p99: number
  /** The most, in MB. */
  resident: number
  /** Descriptors more than before, when all has had time to end. */
  left: number
  /** Processor time. Unit: seconds. */
  cpu: number
  /** All that the server read. Unit: MB. */
  received: number
  sent: { bytes: number; connections: number }
  /** Unit: seconds. */
  took: number
}

/** What is let go of a while after the attack: connections that are drained, drafts. */
const SETTLE_MS = 8000

export async function costsOf(
  pid: number,
  probedUrl: string,
  act: () => Promise<Costs['sent']>,
): Promise<Costs> {
  const before = descriptors(pid)
  forgetPeak(pid)
  const [spent, read, since] = [processorSeconds(pid), readMegabytes(pid), performance.now()]
  const end = new AbortController()
  const others = probe(probedUrl, end.signal)
  const sent = await act()
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
  const deadline = performance.now() + SETTLE_MS
  while (descriptors(pid) > before && performance.now() < deadline) await sleep(100)
  return { ...costs, left: Math.max(0, descriptors(pid) - before) }
}

export async function attackWith(order: Order): Promise<Costs['sent']> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    path.join(import.meta.dirname, 'attacker.ts'),
    JSON.stringify(order),
  ])
  return JSON.parse(stdout)
}

export async function nothing(seconds: number): Promise<Costs['sent']> {
  await sleep(seconds * 1000)
  return { bytes: 0, connections: 0 }
}
