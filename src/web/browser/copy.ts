/** Copy buttons. They are hidden until this runs. */

/** Milliseconds for which a button says that it has copied. */
const SAYS_COPIED_MS = 2000

export function liveCopyButtons(root: ParentNode, say: (text: string) => void): void {
  for (const button of root.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
    const field = document.getElementById(button.dataset.copy!) as HTMLInputElement
    const label = button.textContent
    button.hidden = false
    field.addEventListener('focus', () => field.select())
    button.addEventListener('click', async () => {
      await copyText(field.value, field)
      button.textContent = button.dataset.copied!
      say(button.dataset.copied!)
      setTimeout(() => {
        button.textContent = label
      }, SAYS_COPIED_MS)
    })
  }
}

/** Puts `text` on the clipboard. Where that is not allowed, leaves `field` selected for the person to copy. */
export async function copyText(text: string, field?: HTMLInputElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    field?.select()
    document.execCommand('copy')
  }
}
