/**
 * What the bundler wraps around each `import()` of a part that has styles of its own, or a script that is to come beside it. Its
 * own wrapper is five times as long, for what is not needed here: nonces, pages that are rendered with those styles.
 */
const loading: Record<string, Promise<unknown>> = {}

/** Runs `load` once the style sheets at these paths are there. Rejects if one can't be had. Scripts come meanwhile. */
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
