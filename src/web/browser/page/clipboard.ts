/** Copying to the clipboard, with announcements and a fallback for browsers that don't allow it. */
import { fill } from '../../messages/wording.ts'
import { pageFacts } from './facts.ts'
import { say } from './status.ts'

/** How long a button shows "Copied". Unit: milliseconds. */
const COPIED_LABEL_MS = 2000

/** Copies `text`. Falls back to `execCommand` where the Clipboard API is unavailable (plain HTTP). `false` if both fail. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyByCommand(text)
  }
}

function copyByCommand(text: string): boolean {
  const focused = document.activeElement as HTMLElement | null
  const field = document.createElement('textarea')
  field.value = text
  field.className = 'visually-hidden'
  // Elements outside an open modal dialog can't be selected.
  const parent = focused?.closest('dialog') ?? document.body
  parent.append(field)
  field.select()
  let done = false
  try {
    done = document.execCommand('copy')
  } catch {
    // Some browsers throw, others return `false`.
  }
  field.remove()
  focused?.focus()
  return done
}

export interface CopyOptions {
  /** Field with the text, for copying by hand. Default: the notice shows it. */
  field?: HTMLInputElement | undefined
  /** Briefly shows "Copied". */
  button?: HTMLElement | undefined
  /** Announcement on success. Default: "Copied". */
  said?: string
}

/** Copies and announces the outcome. */
export async function copyAndSay(text: string, { field, button, said }: CopyOptions = {}): Promise<void> {
  const { copied, notCopied, notCopiedTouch } = pageFacts.copying
  if (await copyText(text)) {
    say(said ?? copied)
    if (button) flash(button, copied)
    return
  }
  const isTouch = matchMedia('(hover: none)').matches
  const forms = isTouch ? notCopiedTouch : notCopied
  const keys = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘C' : 'Ctrl+C'
  const how = fill(text.includes('\n') ? forms.other : forms.one, { keys })
  if (field?.checkVisibility()) {
    field.focus()
    field.select()
    say(how)
  } else {
    say(how, { text })
  }
}

function flash(button: HTMLElement, copied: string): void {
  const { textContent: label, ariaLabel } = button
  if (label === copied) return
  button.textContent = copied
  // The accessible name must contain the visible label (WCAG 2.5.3).
  button.ariaLabel = null
  setTimeout(() => {
    button.textContent = label
    button.ariaLabel = ariaLabel
  }, COPIED_LABEL_MS)
}

/** Activates the server-rendered copy buttons, which are hidden until then. */
export function initCopyFields(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
    const field = document.getElementById(button.dataset.copy!) as HTMLInputElement
    button.hidden = false
    field.addEventListener('focus', () => field.select())
    button.addEventListener('click', () => void copyAndSay(field.value, { field, button }))
  }
}
