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
