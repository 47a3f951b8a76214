/** Longer than a browser takes to begin with a download. Unit: milliseconds. */
const KEPT_MS = 60_000

/** Saves `blob` where the browser puts downloads. */
export function saveFile(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS)
}
