/** What is copied, the buttons that do it, and what is said when the browser does not allow it. */
import { fill } from '../../messages/wording.ts'
import { pageFacts } from './facts.ts'
import { say } from './status.ts'

/** How long a button says that it has copied. Unit: milliseconds. */
const SAYS_COPIED_MS = 2000

/** Puts `text` on the clipboard: where scripts may not (over plain http), the old way. `false` if neither worked. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copySelected(text)
  }
}

function copySelected(text: string): boolean {
  const focused = document.activeElement as HTMLElement | null
  const field = document.createElement('textarea')
  field.value = text
  field.className = 'visually-hidden'
  // What lies outside an open dialog can't be selected.
  const place = focused?.closest('dialog') ?? document.body
  place.append(field)
  field.select()
  let done = false
  try {
    done = document.execCommand('copy')
  } catch {
    // Some browsers throw where others answer `false`.
  }
  field.remove()
  focused?.focus()
  return done
}

export interface Copying {
  /** Holds the text where the person can take it by hand. Without one the notice shows it. */
  field?: HTMLInputElement | undefined
  /** Says for a moment that it has copied. */
  button?: HTMLElement | undefined
  /** Default: "Copied". */
  said?: string
}

/** Copies, and says how it went. */
export async function copyAndSay(text: string, { field, button, said }: Copying = {}): Promise<void> {
  const { copied, notCopied, notCopiedTouch } = pageFacts.copying
  if (await copyText(text)) {
    say(said ?? copied)
    if (button) flash(button, copied)
    return
  }
  const isTouch = matchMedia('(hover: none)').matches
  const forms = isTouch ? notCopiedTouch : notCopied
  const how = fill(text.includes('\n') ? forms.other : forms.one, { keys: copyKeys() })
  if (field?.checkVisibility()) {
    field.focus()
    field.select()
    say(how)
  } else {
    say(how, { text })
  }
}

function copyKeys(): string {
  return /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘C' : 'Ctrl+C'
}

function flash(button: HTMLElement, copied: string): void {
  const { textContent: label, ariaLabel } = button
  if (label === copied) return
  button.textContent = copied
  // What is read aloud has in it what is seen (WCAG 2.5.3).
  button.ariaLabel = null
  setTimeout(() => {
    button.textContent = label
    button.ariaLabel = ariaLabel
  }, SAYS_COPIED_MS)
}

/** Copy buttons beside fields that the server wrote. They are hidden until this runs. */
export function enliveCopyFields(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
    const field = document.getElementById(button.dataset.copy!) as HTMLInputElement
    button.hidden = false
    field.addEventListener('focus', () => field.select())
    button.addEventListener('click', () => void copyAndSay(field.value, { field, button }))
  }
}
