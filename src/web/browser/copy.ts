/** Puts `text` on the clipboard. Where that is not allowed, `field` is selected and copied the old way. */
export async function copyText(text: string, field?: HTMLInputElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    field?.select()
    document.execCommand('copy')
  }
}
