/** How far a long command is, on standard error: standard output is for what it finds. */

const SAY_EVERY_MS = 5000

/** `text`: only made when it is said. */
export type Progress = (text: () => string) => void

export function createProgress(): Progress {
  const everyMs = process.stderr.isTTY ? 200 : SAY_EVERY_MS
  let saidAt = performance.now()
  return (text) => {
    if (performance.now() - saidAt < everyMs) return
    saidAt = performance.now()
    process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${text()}` : `${text()}\n`)
  }
}

export function bytesOf(bytes: number): string {
  return bytes < 1e6 ? `${Math.round(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}
