/** How long a sentence stands. Unit: milliseconds. */
const STANDS_MS = 10_000

let timer: ReturnType<typeof setTimeout> | undefined

/** The page's one polite live region. Speaks changes of state, never progress. */
export function say(text: string): void {
  const status = document.getElementById('status')!
  // The same words twice are not spoken twice, unless there was nothing in between.
  status.textContent = ''
  clearTimeout(timer)
  requestAnimationFrame(() => {
    status.textContent = text
  })
  timer = setTimeout(() => {
    status.textContent = ''
  }, STANDS_MS)
}
