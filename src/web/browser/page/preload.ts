/** Replacement for the helper that Vite wraps around each `import()` in a page's script. */
import { checkVersion } from './outdated.ts'

/** Files that are being fetched or were. */
const files = new Map<string, Promise<void>>()

/**
 * Imports a chunk and its style sheets. Rejects if something can't be loaded; the next call tries again. For that, files are
 * fetched first and then taken from the HTTP cache: a browser remembers for a page's life that an import failed.
 */
export async function __vitePreload<T>(load: () => Promise<T>, paths: string[] = []): Promise<T> {
  // As bundled, `load` is nothing but `() => import('./chunk.js')`.
  const [chunk] = /[\w-]+\.js/.exec(`${load}`)!
  await Promise.all([`assets/${chunk}`, ...paths].map(fetchedOnce))
  return load()
}

function fetchedOnce(path: string): Promise<void> {
  const file = files.get(path) ?? fetched(path)
  files.set(path, file)
  file.catch(() => files.delete(path))
  return file
}

async function fetched(path: string): Promise<void> {
  const response = await fetch(`/${path}`)
  await response.arrayBuffer()
  if (!response.ok) {
    void checkVersion()
    throw new TypeError(path)
  }
  if (path.endsWith('.js') || document.querySelector(`[href="/${path}"]`)) return
  const link = document.createElement('link')
  link.rel = 'stylesheet'
  link.href = `/${path}`
  await new Promise((resolve) => {
    link.onload = link.onerror = resolve
    document.head.append(link)
  })
}
