/** How long a sentence stands: at least this, and longer if it takes longer to read. Unit: milliseconds. */
const STANDS_MS = 4000
const STANDS_MS_A_CHARACTER = 80

/** The same words twice are not spoken twice, unless there was nothing in between for so long. Unit: milliseconds. */
const SILENCE_MS = 50

/** More lines of a text are reached by scrolling. */
const MAX_LINES = 4

export interface Saying {
  /** Puts a copy button beside the sentence. */
  onCopy?: (() => void) | undefined
  /** A text to take along by hand, selected. The notice stays until the person leaves it. */
  text?: string | undefined
}

let timer: ReturnType<typeof setTimeout> | undefined

/** The page's one polite live region. Speaks changes of state, never progress. */
export function say(sentence: string, { onCopy, text }: Saying = {}): void {
  const status = document.getElementById('status')!
  const copy = document.getElementById('notice-copy')!
  const field = document.getElementById('notice-text') as HTMLTextAreaElement
  const notice = status.parentElement!
  status.textContent = ''
  clearTimeout(timer)
  // Not in the next frame: a tab in the background has none.
  setTimeout(() => {
    status.textContent = sentence
  }, SILENCE_MS)
  copy.hidden = !onCopy
  copy.onclick = onCopy ?? null
  field.hidden = text === undefined
  document.onvisibilitychange = text === undefined ? stand : null
  if (text === undefined) stand()
  else {
    field.value = text
    field.rows = Math.min(MAX_LINES, text.split('\n').length)
    field.focus()
    field.select()
    field.onblur = hide
  }

  /** Its time passes only while the page is in sight. */
  function stand(): void {
    clearTimeout(timer)
    if (!document.hidden)
      timer = setTimeout(hide, Math.max(STANDS_MS, STANDS_MS_A_CHARACTER * sentence.length))
  }

  function hide(): void {
    // It stays while a person points at it, or is about to press its button.
    if (notice.matches(':hover, :focus-within')) stand()
    else {
      status.textContent = ''
      copy.hidden = field.hidden = true
    }
  }
}
