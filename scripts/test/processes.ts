/** Processes and files that a run of tests started and left. Processes are found where there is a /proc. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** How long killed processes may take to go. Unit: milliseconds. */
const GONE_MS = 10_000

/**
 * Processes other than this one that have the path of a run's folder in their environment or among their words: everything
 * that a run starts gets its folder for temporary files. As lines: pid and command.
 */
export function processesOf(folder: string): { pid: number; command: string }[] {
  return pids()
    .filter((pid) => pid !== process.pid && pid !== process.ppid)
    .map((pid) => ({ pid, command: read(`/proc/${pid}/cmdline`), environment: read(`/proc/${pid}/environ`) }))
    .filter(({ command, environment }) => command.includes(folder) || environment.includes(folder))
    .map(({ pid, command }) => ({ pid, command: command.replaceAll('\0', ' ').trim() }))
}

/** `kill -9` of a process, of its children, and of theirs, whatever their groups. */
export function killTree(pid: number): void {
  const parents = new Map(
    pids().map((one) => [one, Number(/\) \S (\d+)/.exec(read(`/proc/${one}/stat`))?.[1])]),
  )
  const doomed = new Set([pid])
  for (const one of doomed) for (const [child, parent] of parents) if (parent === one) doomed.add(child)
  for (const one of doomed) kill(one)
}

/** Kills every process of a run's folder, and removes it, with what is mounted in it. */
export async function sweep(folder: string): Promise<void> {
  const deadline = Date.now() + GONE_MS
  for (;;) {
    const left = processesOf(folder)
    for (const { pid } of left) kill(pid)
    if (left.length === 0 || Date.now() > deadline) break
    await sleep(50)
  }
  const mounts = read('/proc/self/mounts')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((place) => place.startsWith(`${folder}/`))
  for (const place of mounts.reverse()) spawnSync('umount', ['--lazy', place])
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
}

function pids(): number[] {
  return existsSync('/proc/self') ? readdirSync('/proc').map(Number).filter(Number.isInteger) : []
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It is gone.
  }
}

/** Empty for what is gone, or belongs to somebody else. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
