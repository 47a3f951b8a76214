/** Prints for the operator. A reader that stops early (`| head`) must not end the command. */

let isRead = true

/** Whether output was lost on its way to somebody who wanted it. */
let isLost = false

/** The work goes on whatever becomes of the output: half a hold is worse. A closed pipe is no error; a full disk is. */
export function tolerateLostOutput(): void {
  isRead = true
  isLost = false
  process.stderr.on('error', () => {})
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    isRead = false
    if (error.code === 'EPIPE') return
    isLost = true
    process.exitCode = 1
    process.stderr.write(`the output could not be written: ${error.message}\n`)
  })
}

export function isOutputLost(): boolean {
  return isLost
}

/** `false` if nobody reads standard output any more: what only prints may end. */
export function isOutputRead(): boolean {
  return isRead
}

export function print(text: string): void {
  clearProgress()
  if (isRead) process.stdout.write(`${text}\n`)
}

/** Whether the terminal's last line tells of progress. */
let isProgressShown = false

/** Before anything else is written, and at the end: it would stand on the same line. */
export function clearProgress(): void {
  if (isProgressShown) process.stderr.write(CLEAR_LINE)
  isProgressShown = false
}

const CLEAR_LINE = '\r\x1b[K'

/** Tells how far a long command is, on standard error. `text` is only made when it is told. */
export type Progress = (text: () => string) => void

export function createProgress(): Progress {
  const { isTTY } = process.stderr
  const everyMs = isTTY ? 200 : 5000
  let toldAt = performance.now()
  return (text) => {
    if (performance.now() - toldAt < everyMs) return
    toldAt = performance.now()
    process.stderr.write(isTTY ? `${CLEAR_LINE}${text()}` : `${text()}\n`)
    isProgressShown = isTTY
  }
}

export function bytesOf(bytes: number): string {
  return bytes < 1e6 ? `${Math.round(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}
