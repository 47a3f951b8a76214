/** What an upload needs at the least besides taking and writing it, each measured alone: a digest, and a walk. */
import { hash } from 'node:crypto'
import { sourceOf } from '../../src/formats/image.ts'
import { inspect } from '../../src/formats/inspect.ts'

const TIMES = 400

/** Processor time of one. Unit: microseconds. */
export async function digestTime(picture: Uint8Array): Promise<number> {
  return timeOf(() => hash('sha256', picture))
}

/** Time of a walk over the structure that finds what to keep. Unit: microseconds. */
export async function walkTime(picture: Uint8Array): Promise<number> {
  return timeOf(() => inspect(sourceOf(picture), { strip: true }))
}

async function timeOf(work: () => unknown): Promise<number> {
  for (let i = 0; i < TIMES / 4; i++) await work()
  const before = process.cpuUsage()
  for (let i = 0; i < TIMES; i++) await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / TIMES
}
