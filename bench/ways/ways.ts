/**
 * The installation methods in the README: download size, disk usage, and time from the command to the first stored upload.
 * Needs root, for a minimal Debian and for containers.
 */
import { execFile } from 'node:child_process'
import { mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { releaseDebian } from '../../build/debian.ts'
import { releaseExecutable } from '../../build/executable.ts'
import { releaseImage } from '../../build/image.ts'
import { manifest } from '../../build/packages/paths.ts'
import { releasePackages } from '../../build/packages/release.ts'
import type { Platform } from '../../build/platforms.ts'
import { type Engine, openEngine } from '../../test/deploy/engine.ts'
import { type BareRoot, makeBareRoot } from '../../test/packaging/bare-root.ts'
import { installPackage, startUnit, type Unit } from '../../test/packaging/debian-unit.ts'
import { letOthersRead } from '../../test/support/folder.ts'
import { gif } from '../../test/support/images/tiny-images.ts'
import { freePort } from '../../test/support/processes/caches.ts'
import { NPM_ENV, nodeOf } from '../../test/support/processes/node-of.ts'
import { killGroup, launch, ROOT } from '../../test/support/processes/process.ts'
import { untilSome } from '../../test/support/until.ts'
import { post, remove } from '../../test/support/upload.ts'
import { type BenchOptions, type Figures, table } from '../report/figures.ts'
import { summarize } from '../report/statistics.ts'

const run = promisify(execFile)

const PLATFORM = `linux-${process.arch}` as Platform

const TAG = `localhost/pinhole:${manifest.version}`

/** Enough for `npm ci` over a slow connection. Unit: milliseconds. */
const TIMEOUT_MS = 600_000

/** A trial of an installation method, starting with its prerequisites and an empty `dir`. */
interface Newcomer {
  /** Follows the README, up to the start of the server. */
  begin(): Promise<void>
  /** Download size. Unit: bytes. */
  fetched(): Promise<number>
  /** Disk usage. Unit: bytes. */
  onDisk(): Promise<number>
  /** Stops the server, and removes everything outside `dir`. */
  end(): Promise<void>
}

interface Named {
  name: string
  /** As shown in the README, after `npm ci` in a checkout. */
  command: string
}

interface Way extends Named {
  newcomer(dir: string, port: number): Promise<Newcomer>
}

/** In the order of the README. */
export const WAYS: Named[] = [
  { name: 'a checkout', command: 'npm ci && npm start' },
  { name: 'a checkout, where Node comes along', command: 'npm ci && npm start' },
  {
    name: 'the server’s package: `npm run packages`',
    command: `npm install --global ./dist/release/${manifest.packages.server}-*.tgz && ${manifest.packages.server}`,
  },
  {
    name: 'one file without Node, for Linux: `npm run executable -- linux-x64`',
    // `[0-9]`: the end of the version. The image's archive has another word there, so it does not match.
    command:
      'tar -xzf dist/release/pinhole-server-*[0-9]-linux-x64.tar.gz && pinhole-server-*-linux-x64/pinhole-server',
  },
  {
    name: 'a Debian package: `npm run debian -- linux-x64`',
    command: 'apt-get install ./dist/release/pinhole-server_*_amd64.deb',
  },
  {
    name: 'an image without a shell: `npm run image -- linux-x64`',
    command: `docker load --input dist/release/pinhole-server-*-image-linux-x64.tar.gz && docker run -v pinhole:/data -p 3000:3000 ${TAG}`,
  },
]

interface Trial {
  seconds: number
  fetched: number
  onDisk: number
}

export async function benchWays({ dir, rounds }: BenchOptions): Promise<Figures> {
  if (process.getuid?.() !== 0) throw new Error('this bench must run as root')
  // Other accounts need to read it.
  for (const folder of [tmpdir(), dir]) await letOthersRead(folder)
  const engine = await openEngine()
  try {
    const ways = await waysOf(join(dir, 'release'), engine)
    const trials = new Map<Way, Trial[]>(ways.map((way) => [way, []]))
    for (let round = 1; round <= rounds; round++) {
      for (const [way, all] of trials) {
        const trial = await measure(way, join(dir, 'newcomer'))
        all.push(trial)
        process.stderr.write(`${round}/${rounds} ${way.name}: ${trial.seconds.toFixed(1)} s\n`)
      }
    }
    const rows = [...trials].map(([way, all]) => rowOf(way, all))
    const head = ['way in', 'command', 'fetched', 'on disk', 'first upload after']
    return { table: table(head, rows) }
  } finally {
    await engine.close()
  }
}

function rowOf({ name, command }: Way, trials: Trial[]): string[] {
  const { min, median, max } = summarize(trials.map(({ seconds }) => seconds))
  const { fetched, onDisk } = trials.at(-1)!
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(bytes < 20e6 ? 1 : 0)} MB`
  return [
    name,
    `\`${command}\``,
    megabytes(fetched),
    megabytes(onDisk),
    `${median.toFixed(1)} s (${min.toFixed(1)} to ${max.toFixed(1)})`,
  ]
}

async function measure(way: Way, dir: string): Promise<Trial> {
  await mkdir(dir, { recursive: true })
  const port = await freePort()
  const newcomer = await way.newcomer(dir, port)
  try {
    const startedAt = performance.now()
    await newcomer.begin()
    const url = `http://127.0.0.1:${port}`
    const stored = await untilSome(
      'the first upload is stored',
      () =>
        post(url, gif({ size: 10_000 })).then(
          ({ status, json }) => (status === 201 ? json() : undefined),
          () => undefined,
        ),
      TIMEOUT_MS,
    )
    const seconds = (performance.now() - startedAt) / 1000
    const { status } = await remove(url, stored.key)
    if (status !== 200) throw new Error(`the image was not deleted: ${status}`)
    return { seconds, fetched: await newcomer.fetched(), onDisk: await newcomer.onDisk() }
  } finally {
    await newcomer.end()
    await rm(dir, { recursive: true, force: true })
  }
}

/** Builds the release artifacts in `out`. The build time does not count. */
async function waysOf(out: string, engine: Engine): Promise<Way[]> {
  await mkdir(out)
  const { server } = manifest.packages
  const packages = await releasePackages(out)
  const tarball = packages.find((name) => name.startsWith(`${server}-`)) ?? ''
  const [executable = ''] = await releaseExecutable(PLATFORM, out)
  const [debian = ''] = await releaseDebian(PLATFORM, out)
  const [image = ''] = await releaseImage(PLATFORM, out, engine.buildah)
  const newcomers: Way['newcomer'][] = [
    checkout(dirname(process.execPath)),
    checkout(dirname(await nodeOf(20))),
    serverPackage(join(out, tarball)),
    oneFile(join(out, executable)),
    debianPackage(join(out, debian)),
    ofImage(join(out, image), TAG, engine),
  ]
  return WAYS.map((way, index) => ({ ...way, newcomer: newcomers[index]! }))
}

/** Download size and disk usage of a trial in `dir`. Unit: bytes. */
interface Sizes {
  fetched(dir: string): Promise<number>
  onDisk(dir: string): Promise<number>
}

/**
 * A trial that runs a shell command in its folder, with an empty npm cache. `node`: folder of the Node to use. `prepare`: sets
 * up the folder.
 */
function byShell(
  command: string,
  node: string,
  { fetched, onDisk }: Sizes,
  prepare?: (dir: string) => Promise<void>,
): Way['newcomer'] {
  return async (dir, port) => {
    await prepare?.(dir)
    const env = {
      ...(NPM_ENV as Record<string, string>),
      PATH: `${node}:/usr/local/bin:/usr/bin:/bin`,
      npm_config_cache: join(dir, 'npm-cache'),
      NODE_COMPILE_CACHE: '',
      PORT: `${port}`,
    }
    let shell: ReturnType<typeof launch> | undefined
    return {
      async begin() {
        shell = launch(['-c', `cd "$0" && ${command}`, dir], env, 'sh')
      },
      fetched: () => fetched(dir),
      onDisk: () => onDisk(dir),
      async end() {
        if (shell) killGroup(shell.pid)
        await shell?.ended
      },
    }
  }
}

function checkout(node: string): Way['newcomer'] {
  const sizes = {
    fetched: async (dir: string) =>
      (await sizeOf(join(dir, 'sources.tar'))) + (await sizeOf(join(dir, 'npm-cache'))),
    onDisk: async (dir: string) =>
      (await sizeOf(join(dir, 'pinhole'))) - (await sizeOf(join(dir, 'pinhole/data'))),
  }
  return byShell('tar -xf sources.tar && cd pinhole && npm ci && npm start', node, sizes, async (dir) => {
    const words = ['archive', '--prefix=pinhole/', '--output', join(dir, 'sources.tar'), 'HEAD']
    await run('git', words, { cwd: ROOT })
  })
}

function serverPackage(tarball: string): Way['newcomer'] {
  const { server } = manifest.packages
  const command = `npm install --global --prefix "$PWD/global" ${tarball} && global/bin/${server}`
  return byShell(command, dirname(process.execPath), {
    fetched: () => sizeOf(tarball),
    onDisk: (dir) => sizeOf(join(dir, 'global')),
  })
}

function oneFile(archive: string): Way['newcomer'] {
  const command = `tar -xzf ${archive} && pinhole-server-*/pinhole-server`
  return byShell(command, '/nowhere', {
    fetched: () => sizeOf(archive),
    onDisk: (dir) => sizeOf(join(dir, basename(archive, '.tar.gz'))),
  })
}

function debianPackage(file: string): Way['newcomer'] {
  return async (_, port) => {
    const bare: BareRoot = await makeBareRoot()
    let unit: Unit | undefined
    return {
      async begin() {
        await installPackage(bare, file)
        unit = await startUnit(bare, port)
      },
      fetched: () => sizeOf(file),
      async onDisk() {
        const { stdout } = await bare.asRoot('/usr/bin/dpkg', '--status', 'pinhole-server')
        return Number(/^Installed-Size: (\d+)$/m.exec(stdout)?.[1]) * 1024
      },
      async end() {
        await unit?.stop()
        await bare.remove()
      },
    }
  }
}

function ofImage(archive: string, tag: string, { podman }: Engine): Way['newcomer'] {
  return async (dir, port) => {
    const name = 'newcomer'
    return {
      async begin() {
        await run('sh', ['-c', 'gunzip --stdout "$0" > image.tar', archive], { cwd: dir })
        await podman('load', '--quiet', '--input', join(dir, 'image.tar'))
        const options = ['--read-only', '--tmpfs', '/tmp', '--volume', `${name}:/data`, '--network', 'host']
        await podman('run', '--detach', '--name', name, ...options, '--env', `PORT=${port}`, tag)
      },
      fetched: () => sizeOf(archive),
      onDisk: async () => Number(await podman('image', 'inspect', '--format', '{{.Size}}', tag)),
      async end() {
        await podman('rm', '--force', '--time', '0', '--volumes', name)
        await podman('volume', 'rm', '--force', name)
        await podman('rmi', '--force', tag)
      },
    }
  }
}

/** Unit: bytes. */
async function sizeOf(path: string): Promise<number> {
  const { stdout } = await run('du', ['-s', '--block-size=1', path])
  return Number.parseInt(stdout, 10)
}
