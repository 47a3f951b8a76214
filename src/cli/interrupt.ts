/** Ctrl-C ends what is under way in good order; a second one ends the process at once. */
export function interruptSignal(): AbortSignal {
  const controller = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => controller.abort())
  }
  return controller.signal
}
