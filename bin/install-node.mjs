// The `postinstall` script of `npm ci`. If the machine's Node is too old for the sources, this installs a newer one from npm,
// pinned by the lock file in runtime/, and links it where npm scripts find it first in PATH. If the machine's Node is recent
// enough, nothing is fetched.
// Plain JavaScript, so that any Node can parse it.
import { spawnSync } from 'node:child_process'
import { lstatSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

// The oldest version that runs TypeScript sources directly.
const OLDEST_NODE = '24.15'
// The oldest that the ledger accepts. The first versions of Node 25 have an older one.
const OLDEST_SQLITE = '3.51.3'

const root = fileURLToPath(new URL('..', import.meta.url))
const runtime = join(root, 'runtime')
const link = join(root, 'node_modules/.bin/node')

/** The Node that npm itself runs on. */
const own = process.env.npm_node_execpath || process.execPath
const isLinked = realpathSync(own).startsWith(runtime + sep)
const { version: ownVersion, sqlite } = isLinked ? { version: 'an older one' } : versionOf(own)
const isBefore = (version, oldest) => version.localeCompare(oldest, 'en', { numeric: true }) < 0

// The link may be left from an earlier run.
if (lstatSync(link, { throwIfNoEntry: false })) rmSync(link)
if (isLinked || isBefore(ownVersion, OLDEST_NODE) || isBefore(sqlite, OLDEST_SQLITE)) install()

function install() {
  const { packages } = JSON.parse(readFileSync(join(runtime, 'package-lock.json'), 'utf8'))
  const entry = Object.entries(packages).find(
    ([, { os, cpu }]) => os === process.platform && cpu === process.arch,
  )
  if (entry === undefined) refuse(`npm has no newer one for ${process.platform} on ${process.arch}`)
  const [path, { version }] = entry
  const npm = process.env.npm_execpath
  const args = ['ci', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error']
  const options = { cwd: runtime, stdio: ['ignore', 'ignore', 'inherit'] }
  const ran = npm
    ? spawnSync(process.execPath, [npm, ...args], options)
    : spawnSync('npm', args, { ...options, shell: true })
  if (ran.status !== 0) refuse(`npm could not fetch Node ${version} (see its message above)`)
  const installed = join(runtime, path, 'bin/node')
  const { version: startedVersion, reason } = versionOf(installed)
  if (startedVersion === undefined)
    refuse(`Node ${version} from npm does not start on this machine (${reason})`)
  mkdirSync(join(root, 'node_modules/.bin'), { recursive: true })
  symlinkSync(relative(join(root, 'node_modules/.bin'), installed), link)
}

/** `version`, such as `24.1.0`, and that of its `sqlite`, if it starts; otherwise the `reason` why not. */
function versionOf(node) {
  const { error, status, signal, stdout, stderr } = spawnSync(
    node,
    ['-p', 'process.versions.node + " " + process.versions.sqlite'],
    { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } },
  )
  if (status === 0) {
    const [version, sqlite] = stdout.trim().split(' ')
    return { version, sqlite }
  }
  // The kernel reports the executable as missing when it is the executable's loader that is missing.
  if (error?.code === 'ENOENT') return { reason: 'it is built for glibc, which this system lacks' }
  const firstLine = (stderr || '').trim().split('\n')[0]
  return { reason: firstLine || error?.message || `it exited with ${signal || status}` }
}

function refuse(reason) {
  process.stderr.write(
    `Pinhole needs Node ${OLDEST_NODE} or later, with SQLite ${OLDEST_SQLITE} or later. This machine has ${ownVersion}, and ${reason}.\n` +
      `Install Node ${OLDEST_NODE} or later (https://nodejs.org/en/download), then run npm ci again.\n`,
  )
  process.exit(1)
}
