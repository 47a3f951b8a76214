/** Clipboards take pictures as PNG. More pixels than this would take seconds, and a phone's memory. */
const MAX_PIXELS = 40e6

/** Puts the picture itself on the clipboard. `false` if the browser can't. */
export async function copyImage(picture: HTMLImageElement): Promise<boolean> {
  try {
    // The promise inside is what lets Safari wait for it; the press of the button is long past when it is there.
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': pngOf(picture) })])
    return true
  } catch {
    return false
  }
}

async function pngOf(picture: HTMLImageElement): Promise<Blob> {
  await picture.decode()
  const { naturalWidth: width, naturalHeight: height } = picture
  if (width * height > MAX_PIXELS) throw new RangeError('too many pixels')
  const canvas = new OffscreenCanvas(width, height)
  const context = canvas.getContext('2d')
  if (!context) throw new TypeError('no canvas')
  context.drawImage(picture, 0, 0)
  return canvas.convertToBlob({ type: 'image/png' })
}
