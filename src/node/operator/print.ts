/** Prints for the operator. A reader that stops early (`| head`) must not end the command. */

let isRead = true

/** A closed pipe is no error: the work goes on, and says nothing more. */
export function toleratePipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      if (stream === process.stdout) isRead = false
    })
  }
}

/** `false` if nobody reads standard output any more: what only prints may end. */
export function isOutputRead(): boolean {
  return isRead
}

export function print(text: string): void {
  if (isRead) process.stdout.write(`${text}\n`)
}
