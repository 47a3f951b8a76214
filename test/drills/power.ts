/**
 * Drill: power cuts. The data is on a file system in an image file, which itself is on XFS. An XFS reflink copies that file
 * instantly. Such a copy, made under load, is the disk's content at that moment, without anything that was not flushed. The
 * copy is mounted, a server is started on it, and compared with everything acknowledged before the copy began.
 */

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { newFolder } from '../support/folder.ts'
import { isInstalled } from '../support/processes/caches.ts'
import { ROOT } from '../support/processes/process.ts'
import { startServer } from '../support/processes/server.ts'
import type { Drill, Tally } from './drill.ts'
import { startLoad } from './load.ts'

const MKFS: Record<string, { program: string; args: string[]; size: string }> = {
  ext4: { program: 'mkfs.ext4', args: ['-q', '-F'], size: '256M' },
  xfs: { program: 'mkfs.xfs', args: ['-q', '-f'], size: '320M' },
  btrfs: { program: 'mkfs.btrfs', args: ['-q', '-f'], size: '256M' },
}

const run = (program: string, ...args: string[]) => execFileSync(program, args, { stdio: 'pipe' })

function canMount(): boolean {
  const script = 'd=$(mktemp -d) && mount -t tmpfs tmpfs $d && umount $d; s=$?; rmdir $d; exit $s'
  return process.getuid?.() === 0 && spawnSync('sh', ['-c', script]).status === 0
}

export function powerCut(fileSystem: keyof typeof MKFS, options: { withoutFlushes?: boolean } = {}): Drill {
  const { program, args, size } = MKFS[fileSystem]!
  const isControl = options.withoutFlushes ?? false
  return {
    name: `power cut, ${fileSystem}${isControl ? ', nothing flushed' : ''}`,
    story: isControl
      ? 'The control: flushes do nothing. It must lose acknowledged images, otherwise the other drills prove nothing.'
      : `The power fails under load, with the data on ${fileSystem}.`,
    mayFail: false,
    mustLose: isControl,
    async skip() {
      if (!canMount() || !existsSync('/dev/loop-control')) return 'no loop devices'
      for (const needed of [program, 'mkfs.xfs'])
        if (!(await isInstalled(needed))) return `${needed} is not installed`
      return null
    },
    async run(rounds) {
      const all: Tally = { acknowledged: 0, lost: 0, risen: 0, errors: 0, faults: [] }
      const folder = await newFolder()
      const [outer, data, copy] = ['outer', 'data', 'copy'].map((name) => join(folder, name)) as [
        string,
        string,
        string,
      ]
      for (const each of [outer, data, copy]) await mkdir(each)
      const mounted: string[] = []
      const mount = (file: string, at: string) => {
        // XFS and btrfs refuse to mount a second file system with the same UUID.
        const options = fileSystem === 'xfs' && at !== outer ? 'loop,nouuid' : 'loop'
        run('mount', '-o', options, file, at)
        mounted.push(at)
      }
      const unmount = (at: string) => {
        run('umount', at)
        mounted.splice(mounted.indexOf(at), 1)
      }
      try {
        run('truncate', '-s', '3G', join(folder, 'outer.img'))
        run('mkfs.xfs', '-q', '-m', 'reflink=1', join(folder, 'outer.img'))
        mount(join(folder, 'outer.img'), outer)
        const image = join(outer, 'data.img')
        run('truncate', '-s', size, image)
        run(program, ...args, image)
        for (let round = 0; round < rounds; round++) {
          mount(image, data)
          const server = await startServer(
            { UPLOADS_PER_DAY: '1000000', LOG_LEVEL: 'warn' },
            {
              dataDir: data,
              nodeArguments: isControl ? ['--import', join(ROOT, 'test/drills/no-flushes.ts')] : [],
            },
          )
          // Small images for a small file system.
          const load = startLoad(() => [server.url], {
            size: () => 200 + Math.floor(Math.random() ** 4 * 60_000),
          })
          // So that even the control has something to start from.
          run('sync', '-f', data)
          const cut = join(outer, `cut-${round}.img`)
          let snapshot: ReturnType<typeof load.snapshot>
          try {
            await load.uploads(60)
            snapshot = load.snapshot()
            run('cp', '--reflink=always', image, cut)
          } finally {
            await load.stop()
            await server.kill()
            unmount(data)
          }
          mount(cut, copy)
          const restarted = await startServer({ LOG_LEVEL: 'warn' }, { dataDir: copy }).catch((error) => {
            all.faults.push(`round ${round}: ${(error as Error).message.slice(0, 300)}`)
            return null
          })
          if (restarted !== null) {
            const { acknowledged, lost, risen, faults } = await load.check(restarted.url, snapshot)
            all.acknowledged += acknowledged
            all.lost += lost
            all.risen += risen
            if (!isControl) all.faults.push(...faults)
            await restarted.kill()
          } else if (isControl) all.lost++
          unmount(copy)
          await rm(cut)
        }
        if (isControl) all.faults = []
        return all
      } finally {
        for (const at of [...mounted].reverse()) run('umount', '-l', at)
        await rm(folder, { recursive: true, force: true })
      }
    },
  }
}
