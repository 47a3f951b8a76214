/** Copy buttons beside fields that the server wrote. They are hidden until this runs. */
import { copyText } from './copy.ts'
import { say } from './status.ts'

/** How long a button says that it has copied. Unit: milliseconds. */
const SAYS_COPIED_MS = 2000

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
