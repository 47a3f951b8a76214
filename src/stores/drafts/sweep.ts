/**
 * Removes drafts of dead processes. A draft's name begins with its owner: `<host>-<process>-`. Several servers, in
 * containers or on different machines, may share a folder, and none may touch a draft that another is still writing. Node only.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'

/**
 * Age at which another host's draft counts as abandoned, since that host's processes can't be checked. No writer pauses for
 * this long.
 */
const FOREIGN_MS = 3_600_000

const HOST = createHash('sha256').update(hostname()).digest('hex').slice(0, 8)

/** Prefix of the names of a process's drafts. */
export function draftPrefix(pid: number): string {
  return `${HOST}-${pid}-`
}

/** Removes the drafts of process `pid` on this host, or by default those of all dead processes. */
export async function sweepDrafts(folder: string, pid?: number): Promise<void> {
  const names = await readdir(folder)
  const dead = await Promise.all(
    names.map((name) => (pid === undefined ? isDead(folder, name) : name.startsWith(draftPrefix(pid)))),
  )
  await Promise.all(names.map((name, at) => (dead[at] ? rm(join(folder, name), { force: true }) : null)))
}

/** Only valid before this process writes drafts: until then, drafts with its pid belong to an earlier process. */
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
    // EPERM: another user's process, which is alive.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  return !isZombie(pid)
}

/** Dead, but not yet reaped by its parent. */
function isZombie(pid: number): boolean {
  try {
    return /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}
