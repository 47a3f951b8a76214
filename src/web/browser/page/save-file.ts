/** Long enough for the browser to start the download. Unit: milliseconds. */
const URL_LIFETIME_MS = 60_000

/** Saves `blob` as a download. */
export function saveFile(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), URL_LIFETIME_MS)
}
