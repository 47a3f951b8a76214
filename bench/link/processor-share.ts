/** Limits a browser with all its processes to a share of one core: with cgroups v2 or v1, whichever is writable. */
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'

export interface ProcessorShare {
  /** A shell command that moves the shell into the group. */
  enter: string
  /** `share`: of one core. */
  set(share: number): Promise<void>
  close(): Promise<void>
}

const PERIOD = 100_000
const ROOT = '/sys/fs/cgroup'

export async function openProcessorShare(): Promise<ProcessorShare> {
  const name = `pinhole-link-${process.pid}`
  const share =
    (await open(join(ROOT, name), 'cpu.max', (quota) => `${quota} ${PERIOD}`)) ??
    (await open(join(ROOT, 'cpu', name), 'cpu.cfs_quota_us', (quota) => `${quota}`))
  if (share) return share
  throw new Error('limiting the CPU needs permission to create a cgroup with the cpu controller')
}

async function open(
  folder: string,
  file: string,
  format: (quota: number) => string,
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
    set: (share) => writeFile(join(folder, file), format(share * PERIOD)),
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
