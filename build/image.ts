/**
 * Builds a container image with the executable and the few libraries that Node needs, without a shell. Needs buildah and
 * mmdebstrap.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmod,
  copyFile,
  glob,
  mkdir,
  mkdtempDisposable,
  readdir,
  readFile,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { packTar, sourceDate } from './archive.ts'
import { bomOf, type Component, licensesOf } from './contents.ts'
import { executableOf } from './executable.ts'
import { manifest, ROOT } from './packages/paths.ts'
import { ARCHITECTURES, type Platform } from './platforms.ts'

const run = promisify(execFile)

/** The localhost registry prevents engines that lack the image from pulling one of that name. */
const NAME = 'localhost/pinhole'

const DEBIAN = 'bookworm'
/** System libraries that Node is linked against. Nothing else of these packages is included. */
const LIBRARIES = ['libc6', 'libgcc-s1', 'libstdc++6']
const LIBRARY_FILES = '{libc,libm,libdl,libpthread,libresolv,libgcc_s,libstdc++}.so.[0-9]'

const TRIPLES: Record<Platform, string> = {
  'linux-x64': 'x86_64-linux-gnu',
  'linux-arm64': 'aarch64-linux-gnu',
}
/** Where each platform's programs expect the dynamic linker. */
const LINKERS: Record<Platform, string> = {
  'linux-x64': 'lib64/ld-linux-x86-64.so.2',
  'linux-arm64': 'lib/ld-linux-aarch64.so.1',
}

/** Runs `buildah`. A parameter, because CI gives it its own storage. */
type Buildah = (...args: string[]) => Promise<unknown>

/** Builds the image `tag`. */
async function buildImage(platform: Platform, tag: string, buildah: Buildah): Promise<Component[]> {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'pinhole-image-'))
  const context = temporary.path
  const root = join(context, 'root')
  const { version } = manifest
  const { file, components } = await executableOf(platform)
  const all = [...components, ...(await addLibraries(platform, root))]
  await mkdir(join(root, 'usr/bin'), { recursive: true })
  await copyFile(file, join(root, 'usr/bin/pinhole-server'))
  const docs = join(root, 'usr/share/doc/pinhole-server')
  await mkdir(docs, { recursive: true })
  await writeFile(join(docs, 'copyright'), await licensesOf(all))
  await writeFile(join(docs, 'sbom.cdx.json'), bomOf('pinhole-server', version, all))
  await mkdir(join(root, 'etc'))
  await writeFile(join(root, 'etc/passwd'), 'root:x:0:0::/:/\npinhole:x:65532:65532::/data:/\n')
  await writeFile(join(root, 'etc/group'), 'root:x:0:\npinhole:x:65532:\n')
  await writeFile(join(root, 'etc/nsswitch.conf'), 'hosts: files dns\n')
  await mkdir(join(context, 'data'), { mode: 0o700 })
  await mkdir(join(root, 'tmp'))
  await chmod(join(root, 'tmp'), 0o1777)
  const date = await sourceDate()
  await buildah(
    // Only Docker's format supports health checks.
    ...['build', '--quiet', '--format', 'docker', '--platform', `linux/${ARCHITECTURES[platform]}`],
    ...['--timestamp', `${date}`, '--build-arg', `VERSION=${version}`, '--isolation', 'chroot'],
    ...['--file', join(ROOT, 'deploy/docker/Dockerfile'), '--tag', tag, context],
  )
  return all
}

/** Copies the libraries that Node is linked against into `root`. Runs none of them, so they may be for another architecture. */
export async function addLibraries(platform: Platform, root: string): Promise<Component[]> {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'pinhole-libraries-'))
  const debian = temporary.path
  await run('mmdebstrap', [
    ...['--variant=extract', '--mode=root', '--quiet', `--architectures=${ARCHITECTURES[platform]}`],
    ...[`--include=${LIBRARIES}`, DEBIAN, debian],
  ])
  const folder = join('lib', TRIPLES[platform])
  await mkdir(join(root, folder), { recursive: true })
  for await (const path of glob(`{usr/,}${folder}/${LIBRARY_FILES}`, { cwd: debian })) {
    // Copies a link's target.
    await copyFile(join(debian, path), join(root, folder, basename(path)))
  }
  const linker = join(root, LINKERS[platform])
  await mkdir(dirname(linker), { recursive: true })
  const source = (await readdir(join(debian, folder))).find((name) => name.startsWith('ld-linux')) ?? ''
  await copyFile(join(debian, folder, source), linker)
  return await Promise.all(LIBRARIES.map((name) => libraryComponent(debian, name, ARCHITECTURES[platform])))
}

async function libraryComponent(debian: string, name: string, architecture: string): Promise<Component> {
  const docs = join(debian, 'usr/share/doc', name)
  const changes = gunzipSync(await readFile(join(docs, 'changelog.Debian.gz'))).toString('utf8', 0, 200)
  const version = /\(([^)]+)\)/.exec(changes)?.[1] ?? 'unknown'
  return {
    name,
    version,
    // The main license; the text has the others.
    license: name === 'libc6' ? 'LGPL-2.1-or-later' : 'GPL-3.0-or-later WITH GCC-exception-3.1',
    purl: `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}`,
    text: await readFile(join(docs, 'copyright'), 'utf8'),
  }
}

/**
 * The files of an unpacked image, without what varies between builds: the ID and name of buildah's build container, and the
 * duplicate description for engines before Docker 1.10.
 */
async function partsOf(folder: string): Promise<string[]> {
  const [image] = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'))
  const description = JSON.parse(await readFile(join(folder, image.Config), 'utf8'))
  delete description.container
  delete description.container_config
  delete description.config.Hostname
  const text = JSON.stringify(description)
  const name = `${createHash('sha256').update(text).digest('hex')}.json`
  await writeFile(join(folder, name), text)
  const RepoTags = [`${NAME}:${manifest.version}`]
  await writeFile(join(folder, 'manifest.json'), JSON.stringify([{ ...image, Config: name, RepoTags }]))
  return ['manifest.json', name, ...image.Layers]
}

/**
 * Builds the packed image and its SBOM in `out`. Returns the file names. `docker load` accepts the archive as it is, `podman
 * load` only unpacked.
 */
export async function releaseImage(platform: Platform, out: string, buildah: Buildah): Promise<string[]> {
  const { version } = manifest
  const name = `pinhole-server-${version}-image-${platform}`
  const tag = `${NAME}:${version}-${ARCHITECTURES[platform]}`
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'pinhole-archive-'))
  const folder = temporary.path
  const components = await buildImage(platform, tag, buildah)
  await buildah('push', '--quiet', tag, `docker-archive:${join(folder, 'image.tar')}`)
  await mkdir(out, { recursive: true })
  await run('tar', ['-xf', 'image.tar'], { cwd: folder })
  await packTar(join(out, `${name}.tar.gz`), folder, await partsOf(folder), await sourceDate())
  await writeFile(join(out, `${name}.cdx.json`), bomOf('pinhole-server', version, components))
  return [`${name}.tar.gz`, `${name}.cdx.json`]
}
