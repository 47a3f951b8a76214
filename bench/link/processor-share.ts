/** Limits a browser with all its processes to a share of one core: with cgroups v2 or v1, whichever is writable. */
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'

export interface ProcessorShare {
  /** A shell command that moves the shell into the group. */
  enter: string
  /** `share`: of one core. */
  set(share: number): Promise<void>
  close(): Promise<void>
}

/**
 * Threads that use up a period's time on several processors stand still for the rest of it. A single core never does, so its
 * period is short; on a share of one, all threads stall anyway, and longer periods cost fewer context switches.
 */
const periodOf = (share: number) => (share < 1 ? 100_000 : 10_000)
const ROOT = '/sys/fs/cgroup'

export async function openProcessorShare(): Promise<ProcessorShare> {
  const name = `pinhole-link-${process.pid}`
  const share =
    (await open(join(ROOT, name), 'cpu.max', async (file, quota, period) =>
      writeFile(file, `${quota} ${period}`),
    )) ??
    (await open(join(ROOT, 'cpu', name), 'cpu.cfs_quota_us', async (file, quota, period) => {
      await writeFile(join(dirname(file), 'cpu.cfs_period_us'), `${period}`)
      await writeFile(file, `${quota}`)
    }))
  if (share) return share
  throw new Error('limiting the CPU needs permission to create a cgroup with the cpu controller')
}

async function open(
  folder: string,
  file: string,
  limit: (path: string, quota: number, period: number) => Promise<void>,
): Promise<ProcessorShare | null> {
  try {
    await mkdir(folder)
  } catch {
    return null
  }
  const exists = await readFile(join(folder, file)).then(
    () => true,
    () => false,
  )
  if (!exists) {
    await rmdir(folder)
    return null
  }
  return {
    enter: `echo $$ > ${folder}/cgroup.procs`,
    set: (share) => limit(join(folder, file), share * periodOf(share), periodOf(share)),
    async close() {
      // Terminated processes leave the group with a delay.
      for (let tries = 0; tries < 50; tries++) {
        if (
          await rmdir(folder).then(
            () => true,
            () => false,
          )
        )
          return
        await setTimeout(100)
      }
    },
  }
}
