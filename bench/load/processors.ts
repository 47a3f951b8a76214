/** Which processors a server may use, and how much of them it used. Linux only. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { childrenOf } from '../../test/support/attack/process-costs.ts'

/** The server's, and the load generator's, where each has one of its own. */
export const SERVER_CORE = 0
export const GENERATOR_CORE = 1

/** Binds a server, with its threads and its children, to some processors. */
export function bind(pid: number, cores: string): void {
  for (const each of family(pid)) execFileSync('taskset', ['-acp', cores, `${each}`], { stdio: 'ignore' })
}

/**
 * Processor time of a server and its children so far, by all their threads that live; to the nanosecond, where
 * `/proc/<pid>/stat` has hundredths of a second. Unit: microseconds.
 */
export function processorTime(pid: number): number {
  let nanoseconds = 0
  for (const each of family(pid)) {
    for (const thread of readdirSync(`/proc/${each}/task`)) {
      nanoseconds += Number(readFileSync(`/proc/${each}/task/${thread}/schedstat`, 'utf8').split(' ')[0])
    }
  }
  return nanoseconds / 1000
}

function family(pid: number): number[] {
  return [pid, ...childrenOf(pid)!.flatMap(family)]
}
