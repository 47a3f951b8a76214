/**
 * Drafts that dead processes left. Their names say whose they are: `<host>-<process>-<number>`. Several servers may share
 * a folder, in containers of one machine or on several, and none may touch what another still writes. Node only.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'

/** Whether a process of another host lives can't be seen. A draft is written without a pause longer than this. */
const FOREIGN_MS = 3_600_000

const HOST = createHash('sha256').update(hostname()).digest('hex').slice(0, 8)

/** What the names of a process's drafts begin with. */
export function draftPrefix(pid: number): string {
  return `${HOST}-${pid}-`
}

/** Removes the drafts of one process of this host, or else of all that are dead. */
export async function sweepDrafts(folder: string, pid?: number): Promise<void> {
  const names = await readdir(folder)
  const dead = await Promise.all(
    names.map((name) => (pid === undefined ? isDead(folder, name) : name.startsWith(draftPrefix(pid)))),
  )
  await Promise.all(names.map((name, at) => (dead[at] ? rm(join(folder, name), { force: true }) : null)))
}

/** To be asked before this process writes drafts: what bears its number was left by another before it. */
async function isDead(folder: string, name: string): Promise<boolean> {
  const [host, pid] = name.split('-')
  if (host === HOST) return Number(pid) === process.pid || !isRunning(Number(pid))
  const { mtimeMs } = await stat(join(folder, name)).catch(() => ({ mtimeMs: Date.now() }))
  return Date.now() - mtimeMs > FOREIGN_MS
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    // Another user's process is none of ours to signal, but lives.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  return !isZombie(pid)
}

/** Killed, but not yet waited for by its parent. */
function isZombie(pid: number): boolean {
  try {
    return /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}
