/** Prints to the operator. A reader that stops early (`| head`) must not abort the command. */

let hasReader = true

/** Whether output was lost for another reason than a closed pipe. */
let isLost = false

/** The command finishes even if its output is lost: a half-done hold is worse. A closed pipe is no error; a full disk is. */
export function tolerateLostOutput(): void {
  hasReader = true
  isLost = false
  process.stderr.on('error', () => {})
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    hasReader = false
    if (error.code === 'EPIPE') return
    isLost = true
    process.exitCode = 1
    process.stderr.write(`the output could not be written: ${error.message}\n`)
  })
}

export function isOutputLost(): boolean {
  return isLost
}

/** `false` if nobody reads standard output any more: commands that only print may stop. */
export function hasOutputReader(): boolean {
  return hasReader
}

export function print(text: string): void {
  clearProgress()
  if (hasReader) process.stdout.write(`${text}\n`)
}

/** Prints a list that was read to one entry past `limit`, and says if entries are left out. */
export function printList<Entry>(entries: Entry[], limit: number, textOf: (entry: Entry) => string): void {
  for (const entry of entries.slice(0, limit)) print(textOf(entry))
  if (entries.length > limit) process.stderr.write(`There are more than ${limit}: --limit lists more.\n`)
}

/** Whether the terminal's last line shows progress. */
let isProgressShown = false

/** Must be called before other output and at the end, so that nothing is appended to the progress line. */
export function clearProgress(): void {
  if (isProgressShown) process.stderr.write(CLEAR_LINE)
  isProgressShown = false
}

const CLEAR_LINE = '\r\x1b[K'

/** Reports the progress of a long command on standard error. `text` is only evaluated when it is shown. */
export type Progress = (text: () => string) => void

export function createProgress(): Progress {
  const { isTTY } = process.stderr
  const intervalMs = isTTY ? 200 : 5000
  let shownAt = performance.now()
  return (text) => {
    if (performance.now() - shownAt < intervalMs) return
    shownAt = performance.now()
    process.stderr.write(isTTY ? `${CLEAR_LINE}${text()}` : `${text()}\n`)
    isProgressShown = isTTY
  }
}

export function formatBytes(bytes: number): string {
  return bytes < 1e6 ? `${Math.round(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}
