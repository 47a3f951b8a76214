/** CPU affinity and CPU time of a server. Linux only. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { childrenOf } from '../../test/support/attack/process-costs.ts'

/** Cores of the server and of the load generator in pinned runs. */
export const SERVER_CORE = 0
export const GENERATOR_CORE = 1

/** Binds a server, with its threads and children, to some cores. */
export function bind(pid: number, cores: string): void {
  for (const each of family(pid)) execFileSync('taskset', ['-acp', cores, `${each}`], { stdio: 'ignore' })
}

/**
 * CPU time so far of a server and its children, summed over their live threads. Precise to the nanosecond, unlike
 * `/proc/<pid>/stat`, which counts hundredths of a second. Unit: microseconds.
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
