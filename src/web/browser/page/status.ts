/** How long a sentence stands. Unit: milliseconds. */
const STANDS_MS = 4000

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
  const field = document.getElementById('notice-text') as HTMLInputElement
  // The same words twice are not spoken twice, unless there was nothing in between.
  status.textContent = ''
  clearTimeout(timer)
  requestAnimationFrame(() => {
    status.textContent = sentence
  })
  copy.hidden = !onCopy
  copy.onclick = onCopy ?? null
  field.hidden = text === undefined
  if (text !== undefined) {
    field.value = text
    field.focus()
    field.select()
    field.onblur = hide
  } else {
    timer = setTimeout(hide, STANDS_MS)
  }

  function hide(): void {
    // The button stays while a person is about to press it.
    if (onCopy && copy.matches(':hover, :focus')) {
      timer = setTimeout(hide, STANDS_MS)
      return
    }
    status.textContent = ''
    copy.hidden = field.hidden = true
  }
}
