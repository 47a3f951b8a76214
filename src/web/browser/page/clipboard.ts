/** What is copied, and the buttons that do it. */
import { say } from './status.ts'

/** Puts `text` on the clipboard. Where scripts may not (over plain http), the old way: by selecting it. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    const focused = document.activeElement as HTMLElement | null
    const field = document.createElement('textarea')
    field.value = text
    field.className = 'visually-hidden'
    document.body.append(field)
    field.select()
    document.execCommand('copy')
    field.remove()
    focused?.focus()
  }
}

/** How long a button says that it has copied. Unit: milliseconds. */
const SAYS_COPIED_MS = 2000

/** Copy buttons beside fields that the server wrote. They are hidden until this runs. */
export function enliveCopyFields(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
    const field = document.getElementById(button.dataset.copy!) as HTMLInputElement
    const label = button.textContent
    button.hidden = false
    field.addEventListener('focus', () => field.select())
    button.addEventListener('click', async () => {
      await copyText(field.value)
      button.textContent = button.dataset.copied!
      say(button.dataset.copied!)
      setTimeout(() => {
        button.textContent = label
      }, SAYS_COPIED_MS)
    })
  }
}
