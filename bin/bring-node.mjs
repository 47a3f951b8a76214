// `npm ci` runs this at its end (`postinstall`). Where the machine's own Node is too old for the sources, it brings one
// that runs them, from npm, by the lock file in runtime/, and npm scripts find it first on their path. A machine whose
// Node is recent enough uses that one, and nothing is fetched.
// Plain JavaScript that any Node can read.
import { spawnSync } from 'node:child_process'
import { lstatSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

// It runs the sources as they are, and has the SQLite that the ledger needs.
const OLDEST_NODE = '24.15'

const root = fileURLToPath(new URL('..', import.meta.url))
const runtime = join(root, 'runtime')
const link = join(root, 'node_modules/.bin/node')

/** What npm itself runs on. */
const own = process.env.npm_node_execpath || process.execPath
const isOurs = realpathSync(own).startsWith(runtime + sep)
const ownVersion = isOurs ? 'an older one' : versionOf(own).version
const isOlder = ownVersion.localeCompare(OLDEST_NODE, 'en', { numeric: true }) < 0

// An earlier run may have left it.
if (lstatSync(link, { throwIfNoEntry: false })) rmSync(link)
if (isOurs || isOlder) bring()

function bring() {
  const { packages } = JSON.parse(readFileSync(join(runtime, 'package-lock.json'), 'utf8'))
  const here = Object.entries(packages).find(
    ([, { os, cpu }]) => os === process.platform && cpu === process.arch,
  )
  if (here === undefined) refuse(`npm has no later one for ${process.platform} on ${process.arch}`)
  const [path, { version }] = here
  const npm = process.env.npm_execpath
  const words = ['ci', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error']
  const options = { cwd: runtime, stdio: ['ignore', 'ignore', 'inherit'] }
  const ran = npm
    ? spawnSync(process.execPath, [npm, ...words], options)
    : spawnSync('npm', words, { ...options, shell: true })
  if (ran.status !== 0) refuse(`npm could not fetch Node ${version} (it says why above)`)
  const brought = join(runtime, path, 'bin/node')
  const { version: started, why } = versionOf(brought)
  if (started === undefined) refuse(`Node ${version}, which npm brings, does not start here (${why})`)
  mkdirSync(join(root, 'node_modules/.bin'), { recursive: true })
  symlinkSync(relative(join(root, 'node_modules/.bin'), brought), link)
}

/** `version`: as in `24.1.0`, if it starts; otherwise `why` not. */
function versionOf(node) {
  const { error, status, signal, stdout, stderr } = spawnSync(node, ['-p', 'process.versions.node'], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  if (status === 0) return { version: stdout.trim() }
  // The kernel says so of the file when it is the file's loader that is missing.
  if (error?.code === 'ENOENT') return { why: 'it is built for glibc, which this system lacks' }
  const said = (stderr || '').trim().split('\n')[0]
  return { why: said || error?.message || `it ended with ${signal || status}` }
}

function refuse(reason) {
  process.stderr.write(
    `Pinhole needs Node ${OLDEST_NODE} or later. This machine has ${ownVersion}, and ${reason}.\n` +
      `Install Node ${OLDEST_NODE} or later (https://nodejs.org/en/download), then run npm ci again.\n`,
  )
  process.exit(1)
}
