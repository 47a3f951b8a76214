/**
 * Power cuts. The data is on a file system in a file; the file is on XFS, which copies it in a moment by sharing its
 * blocks. Such a copy, made under load, is what the disk held at that moment: whatever was not flushed is not in it. It
 * is mounted, a server is started on it, and held to all that was acknowledged before the copy began.
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

const MAKE: Record<string, { program: string; words: string[]; size: string }> = {
  ext4: { program: 'mkfs.ext4', words: ['-q', '-F'], size: '256M' },
  xfs: { program: 'mkfs.xfs', words: ['-q', '-f'], size: '320M' },
  btrfs: { program: 'mkfs.btrfs', words: ['-q', '-f'], size: '256M' },
}

const run = (program: string, ...words: string[]) => execFileSync(program, words, { stdio: 'pipe' })

function canMount(): boolean {
  const script = 'd=$(mktemp -d) && mount -t tmpfs tmpfs $d && umount $d; s=$?; rmdir $d; exit $s'
  return process.getuid?.() === 0 && spawnSync('sh', ['-c', script]).status === 0
}

export function powerCut(fileSystem: keyof typeof MAKE, options: { withoutFlushes?: boolean } = {}): Drill {
  const { program, words, size } = MAKE[fileSystem]!
  const isControl = options.withoutFlushes ?? false
  return {
    name: `power cut, ${fileSystem}${isControl ? ', nothing flushed' : ''}`,
    story: isControl
      ? 'The control: flushes do nothing. It must lose what was acknowledged, or the others prove nothing.'
      : `The power goes under load, with the data on ${fileSystem}.`,
    mayFail: false,
    mustLose: isControl,
    async skip() {
      if (!canMount() || !existsSync('/dev/loop-control')) return 'no loop devices here'
      for (const needed of [program, 'mkfs.xfs'])
        if (!(await isInstalled(needed))) return `${needed} is not here`
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
        // XFS and btrfs refuse a second file system of one name.
        const more = fileSystem === 'xfs' && at !== outer ? 'loop,nouuid' : 'loop'
        run('mount', '-o', more, file, at)
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
        run(program, ...words, image)
        for (let round = 0; round < rounds; round++) {
          mount(image, data)
          const server = await startServer(
            { UPLOADS_PER_DAY: '1000000', LOG_LEVEL: 'warn' },
            {
              dataDir: data,
              nodeArguments: isControl ? ['--import', join(ROOT, 'test/drills/no-flushes.ts')] : [],
            },
          )
          // Small: the file system is.
          const load = startLoad(() => [server.url], {
            size: () => 200 + Math.floor(Math.random() ** 4 * 60_000),
          })
          // So that the control starts on something.
          run('sync', '-f', data)
          const cut = join(outer, `cut-${round}.img`)
          let promised: ReturnType<typeof load.promises>
          try {
            await load.uploads(60)
            promised = load.promises()
            run('cp', '--reflink=always', image, cut)
          } finally {
            await load.stop()
            await server.kill()
            unmount(data)
          }
          mount(cut, copy)
          const risen = await startServer({ LOG_LEVEL: 'warn' }, { dataDir: copy }).catch((error) => {
            all.faults.push(`round ${round}: ${(error as Error).message.slice(0, 300)}`)
            return null
          })
          if (risen !== null) {
            const { acknowledged, lost, risen: back, faults } = await load.check(risen.url, promised)
            all.acknowledged += acknowledged
            all.lost += lost
            all.risen += back
            if (!isControl) all.faults.push(...faults)
            await risen.kill()
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
