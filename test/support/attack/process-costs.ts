/** Measures memory, CPU time, I/O, descriptors and children of a process from outside. Linux only. */
import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'

/** The kernel's unit of CPU time: sysconf(_SC_CLK_TCK), which is 100 on every Linux in use. */
const TICKS_A_SECOND = 100

/** User and system time. Unit: seconds. */
export function processorSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND
}

export function descriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

/** Direct children of a process. `null` without /proc. */
export function childrenOf(pid: number): number[] | null {
  if (!existsSync('/proc/self')) return null
  return readdirSync('/proc')
    .map(Number)
    .filter((other) => parentOf(other) === pid)
}

function parentOf(pid: number): number | null {
  try {
    return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1])
  } catch {
    return null
  }
}

/** Current resident memory. Unit: MB. */
export function residentMegabytes(pid: number): number {
  return megabytes(pid, 'VmRSS')
}

/** Peak resident memory since `resetPeak`. Unit: MB. */
export function peakMegabytes(pid: number): number {
  return megabytes(pid, 'VmHWM')
}

function megabytes(pid: number, field: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024
}

/** Resets the peak: proc(5), /proc/pid/clear_refs. */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

/** Bytes read from files and sockets (proc(5), /proc/pid/io). Unit: MB. */
export function readMegabytes(pid: number): number {
  return Number(/^rchar: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]) / 1e6
}

/** Bytes written to files and sockets. Unit: MB. */
export function writtenMegabytes(pid: number): number {
  return Number(/^wchar: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]) / 1e6
}

/** Number of open files whose paths match. */
export function openFiles(pid: number, paths: RegExp): number {
  return readdirSync(`/proc/${pid}/fd`).filter((descriptor) => {
    try {
      return paths.test(readlinkSync(`/proc/${pid}/fd/${descriptor}`))
    } catch {
      // Already closed.
      return false
    }
  }).length
}
