/** Puts text on the clipboard; says so where there is none, e.g. over ssh, for the links are on stdout anyway. */
export async function copyText(text: string): Promise<void> {
  try {
    const { default: clipboard } = await import('clipboardy')
    await clipboard.write(text)
  } catch {
    process.stderr.write(
      'There is no clipboard to copy to (on Linux: install xclip, xsel or wl-clipboard).\n',
    )
  }
}
