/** The page's one polite live region. */
export function say(text: string): void {
  document.getElementById('status')!.textContent = text
}
