/** How long a notice stays: at least this, or longer depending on its length. Unit: milliseconds. */
const MIN_DURATION_MS = 4000
const MS_PER_CHARACTER = 80

/** Screen readers repeat the same text only if the region was empty for a moment. Unit: milliseconds. */
const CLEAR_MS = 50

/** Visible lines of a text; longer ones scroll. */
const MAX_LINES = 4

export interface NoticeOptions {
  /** Adds a button that copies. */
  onCopy?: (() => void) | null
  copyLabel?: string
  /** Shows a selected text for copying by hand. The notice stays until it loses focus. */
  text?: string | undefined
}

let timer: ReturnType<typeof setTimeout> | undefined

/** Shows a notice in the page's polite live region. For changes of state, never for progress. */
export function say(sentence: string, { onCopy = null, copyLabel = '', text }: NoticeOptions = {}): void {
  const status = document.getElementById('status')!
  const copy = document.getElementById('notice-copy')!
  const field = document.getElementById('notice-text') as HTMLTextAreaElement
  const notice = status.parentElement!
  status.textContent = ''
  clearTimeout(timer)
  // Not `requestAnimationFrame`, which background tabs don't run.
  setTimeout(() => {
    status.textContent = sentence
  }, CLEAR_MS)
  // A keyboard's focus must not get lost when a press of the button is answered.
  if (onCopy || !copy.matches(':focus-visible')) {
    copy.textContent = copyLabel
    copy.hidden = !onCopy
    copy.onclick = onCopy
  }
  field.hidden = text === undefined
  document.onvisibilitychange = text === undefined ? startTimer : null
  if (text === undefined) startTimer()
  else {
    field.value = text
    field.rows = Math.min(MAX_LINES, text.split('\n').length)
    field.focus()
    field.select()
    field.onblur = hide
  }

  /** Time passes only while the page is visible. */
  function startTimer(): void {
    clearTimeout(timer)
    if (!document.hidden)
      timer = setTimeout(hide, Math.max(MIN_DURATION_MS, MS_PER_CHARACTER * sentence.length))
  }

  function hide(): void {
    // Stay while hovered or focused.
    if (notice.matches(':hover, :focus-within')) startTimer()
    else {
      status.textContent = ''
      copy.hidden = field.hidden = true
    }
  }
}
