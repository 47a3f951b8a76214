import { EXIT } from '../exit.ts'

/** One Ctrl-C may come twice: from the terminal to the whole group, and from a parent that hands it on. */
const SAME_KEYSTROKE_MS = 500

/** Ctrl-C ends what is under way in good order; a second one ends the process at once. */
export function interruptSignal(): AbortSignal {
  const controller = new AbortController()
  let first = 0
  const interrupt = () => {
    if (!controller.signal.aborted) {
      first = performance.now()
      controller.abort()
    } else if (performance.now() - first > SAME_KEYSTROKE_MS) {
      process.exit(EXIT.interrupted)
    }
  }
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, interrupt)
  return controller.signal
}
