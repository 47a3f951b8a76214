/** `npm run build`: bundles the pages' assets if their sources changed. */
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { sleep } from '../../async.ts'
import type { AssetList } from '../../web/assets.ts'
import { ROOT } from '../manifest.ts'
import { digestSources } from './list.ts'

const OUT = join(ROOT, 'dist/web')

/** How often a running build refreshes its lock. Unit: milliseconds. */
const HEARTBEAT_MS = 2000

/** A lock that was not refreshed for this long belongs to a dead process. Unit: milliseconds. */
const LOCK_LIFETIME_MS = 20_000

/** The bundle's folder and asset list. `null` if it was never built. */
export async function readBundle(): Promise<{ folder: string; list: AssetList } | null> {
  try {
    return { folder: OUT, list: JSON.parse(await readFile(join(OUT, 'assets.json'), 'utf8')) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Whether the bundle matches its sources. An installed package ships no sources: its bundle is always fresh. */
export async function isFresh(): Promise<boolean> {
  const bundle = await readBundle()
  if (!bundle) return false
  const hasSources = existsSync(join(ROOT, 'vite.config.ts'))
  return !hasSources || bundle.list.sources === digestSources(ROOT)
}

/**
 * Builds the bundle unless it is fresh. Concurrent processes build it once, and readers see either the old or the new bundle,
 * never a mix. Throws if vite is not installed (it is a development dependency) or the build fails.
 */
export async function buildAssets(): Promise<void> {
  await mkdir(join(ROOT, 'dist'), { recursive: true })
  const lock = join(ROOT, 'dist/web.lock')
  while (!(await tryLock(lock))) await sleep(100)
  const fresh = `${OUT}.${process.pid}`
  const heartbeat = setInterval(() => utimes(lock, new Date(), new Date()).catch(() => {}), HEARTBEAT_MS)
  try {
    if (await isFresh()) return
    const { build } = await import('vite').catch((cause) => {
      throw new Error('vite is not installed: run npm ci', { cause })
    })
    await build({ configFile: join(ROOT, 'vite.config.ts'), build: { outDir: fresh } })
    const old = `${OUT}.old`
    await rm(old, { recursive: true, force: true })
    await rename(OUT, old).catch(() => {})
    await rename(fresh, OUT)
    await rm(old, { recursive: true, force: true })
  } finally {
    clearInterval(heartbeat)
    await rm(fresh, { recursive: true, force: true })
    await rm(lock, { recursive: true, force: true })
  }
}

async function tryLock(lock: string): Promise<boolean> {
  try {
    await mkdir(lock)
    return true
  } catch {
    const held = await stat(lock).catch(() => null)
    const isDead = held !== null && Date.now() - held.mtimeMs > LOCK_LIFETIME_MS
    if (isDead) await rm(lock, { recursive: true, force: true })
    return false
  }
}

if (import.meta.main) await buildAssets()
