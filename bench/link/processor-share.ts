/** A share of one core for a browser and all its processes: cgroups of version 2 or 1, whichever can be written to. */
import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'

export interface ProcessorShare {
  /** A shell line that puts the shell's own process into the group. */
  enter: string
  /** Share of a core. */
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
  throw new Error('a share of a core needs a cgroup with the cpu controller that this user may make')
}

async function open(
  folder: string,
  file: string,
  line: (quota: number) => string,
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
    set: (share) => writeFile(join(folder, file), line(share * PERIOD)),
    async close() {
      // Processes that were ended leave their group a moment later.
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
