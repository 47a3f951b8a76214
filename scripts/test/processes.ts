/** Finds and removes processes and files that a test run left behind. Processes are only found where /proc exists. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** How long killed processes may take to exit. Unit: milliseconds. */
const EXIT_TIMEOUT_MS = 10_000

/**
 * Processes other than this one that have the path of a run's folder in their environment or arguments: everything that a run
 * starts gets that folder for temporary files.
 */
export function processesOf(folder: string): { pid: number; command: string }[] {
  return pids()
    .filter((pid) => pid !== process.pid && pid !== process.ppid)
    .map((pid) => ({ pid, command: read(`/proc/${pid}/cmdline`), environment: read(`/proc/${pid}/environ`) }))
    .filter(({ command, environment }) => command.includes(folder) || environment.includes(folder))
    .map(({ pid, command }) => ({ pid, command: command.replaceAll('\0', ' ').trim() }))
}

/** `kill -9` of a process and all its descendants, whatever their process groups. */
export function killTree(pid: number): void {
  const parents = new Map(
    pids().map((each) => [each, Number(/\) \S (\d+)/.exec(read(`/proc/${each}/stat`))?.[1])]),
  )
  const tree = new Set([pid])
  for (const each of tree) for (const [child, parent] of parents) if (parent === each) tree.add(child)
  for (const each of tree) kill(each)
}

/** Kills all processes of a run's folder, and removes the folder with everything mounted in it. */
export async function sweep(folder: string): Promise<void> {
  const deadline = Date.now() + EXIT_TIMEOUT_MS
  for (;;) {
    const left = processesOf(folder)
    for (const { pid } of left) kill(pid)
    if (left.length === 0 || Date.now() > deadline) break
    await sleep(50)
  }
  const mounts = read('/proc/self/mounts')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((path) => path.startsWith(`${folder}/`))
  for (const path of mounts.reverse()) spawnSync('umount', ['--lazy', path])
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

/** Empty for processes that are gone or belong to another user. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
