/** Builds the Debian package: the executable with its account, systemd unit and settings. Needs dpkg-deb. */
import { execFile } from 'node:child_process'
import { chmod, copyFile, cp, mkdir, mkdtempDisposable, readdir, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { sourceDate } from './archive.ts'
import { bomOf, licensesOf } from './contents.ts'
import { executableOf } from './executable.ts'
import { manifest, ROOT } from './packages/paths.ts'
import { ARCHITECTURES, type Platform } from './platforms.ts'

const run = promisify(execFile)

/** Files of `deploy/` and where the package installs them. */
const FILES: Record<string, { to: string; mode: number }> = {
  'debian/pinhole.env': { to: 'etc/pinhole/pinhole.env', mode: 0o640 },
  'debian/pinhole-operator': { to: 'usr/bin/pinhole-operator', mode: 0o755 },
  'systemd/pinhole.service': { to: 'usr/lib/systemd/system/pinhole.service', mode: 0o644 },
}
const SCRIPTS = ['postinst', 'prerm', 'postrm']

/** Builds the package and its SBOM in `out`. `version` overrides the manifest's, to test upgrades. Returns the file names. */
export async function releaseDebian(platform: Platform, out: string, version = ''): Promise<string[]> {
  const debianVersion = version || manifest.version
  const name = `pinhole-server_${debianVersion}_${ARCHITECTURES[platform]}`
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'pinhole-debian-'))
  const folder = temporary.path
  const program = join(folder, 'usr/bin/pinhole-server')
  await mkdir(dirname(program), { recursive: true })
  const { file, components } = await executableOf(platform)
  await copyFile(file, program)
  for (const [from, { to, mode }] of Object.entries(FILES)) {
    await mkdir(dirname(join(folder, to)), { recursive: true })
    await cp(join(ROOT, 'deploy', from), join(folder, to))
    await chmod(join(folder, to), mode)
  }
  const docs = join(folder, 'usr/share/doc/pinhole-server')
  await mkdir(docs, { recursive: true })
  await writeFile(join(docs, 'copyright'), await licensesOf(components))
  await mkdir(join(folder, 'DEBIAN'))
  await writeFile(
    join(folder, 'DEBIAN/control'),
    control(debianVersion, ARCHITECTURES[platform], await kilobytesOf(folder), manifest.description),
  )
  await writeFile(join(folder, 'DEBIAN/conffiles'), '/etc/pinhole/pinhole.env\n')
  await cp(join(ROOT, 'deploy/debian/templates'), join(folder, 'DEBIAN/templates'))
  for (const script of SCRIPTS) {
    await cp(join(ROOT, 'deploy/debian', script), join(folder, 'DEBIAN', script))
    await chmod(join(folder, 'DEBIAN', script), 0o755)
  }
  await chmodFolders(folder)
  await mkdir(out, { recursive: true })
  const env = { ...process.env, SOURCE_DATE_EPOCH: `${await sourceDate()}` }
  await run(
    'dpkg-deb',
    ['--root-owner-group', '-Zzstd', '-z12', '--build', folder, join(out, `${name}.deb`)],
    {
      env,
    },
  )
  await writeFile(join(out, `${name}.cdx.json`), bomOf('pinhole-server', debianVersion, components))
  return [`${name}.deb`, `${name}.cdx.json`]
}

/** The control file. Depends on Node's system libraries, adduser, and debconf for the question before a purge. */
function control(version: string, architecture: string, kilobytes: number, description: string): string {
  return `Package: pinhole-server
Version: ${version}
Architecture: ${architecture}
Installed-Size: ${kilobytes}
Maintainer: Pinhole <root@localhost>
Section: web
Priority: optional
Depends: libc6 (>= 2.28), libstdc++6 (>= 8), adduser, debconf (>= 0.5), init-system-helpers (>= 1.51)
Description: ${description.replace(/\.$/, '')}
 The server, its operator commands, and a systemd unit.
`
}

/** Counts like Debian (deb-substvars(5)): each file rounded up to kilobytes, one for a folder. */
async function kilobytesOf(folder: string): Promise<number> {
  let kilobytes = 1
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) kilobytes += await kilobytesOf(path)
    else kilobytes += Math.ceil((await stat(path)).size / 1024)
  }
  return kilobytes
}

/** Makes folders world-readable, whatever this account's umask. */
async function chmodFolders(folder: string): Promise<void> {
  await chmod(folder, 0o755)
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await chmodFolders(join(folder, entry.name))
  }
}
