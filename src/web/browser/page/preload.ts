/**
 * Replacement for the helper that Vite wraps around each `import()` of a chunk with its own styles or dependencies. Vite's is
 * five times as long, for features not needed here: nonces and server-rendered styles.
 */
const loading: Record<string, Promise<unknown>> = {}

/** Runs `load` once the style sheets are loaded. Rejects if one fails. Scripts are only preloaded, not awaited. */
export function __vitePreload<T>(load: () => Promise<T>, paths: string[] = []): Promise<T> {
  return Promise.all(paths.map(preload)).then(load)
}

function preload(path: string): Promise<unknown> {
  loading[path] ??= new Promise((resolve, reject) => {
    const link = document.createElement('link')
    link.rel = 'stylesheet'
    if (path.endsWith('.js')) {
      link.rel = 'modulepreload'
      resolve(0)
    }
    link.href = `/${path}`
    link.onload = resolve
    link.onerror = () => {
      link.remove()
      delete loading[path]
      reject(new Error(`Unable to load ${path}`))
    }
    document.head.append(link)
  })
  return loading[path]
}
