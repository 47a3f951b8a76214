/** Clipboards take PNG. Encoding more pixels takes seconds, and too much memory on phones. */
const MAX_PIXELS = 40e6

/** Copies the image to the clipboard. `false` if the browser can't. */
export async function copyImage(picture: HTMLImageElement): Promise<boolean> {
  try {
    // Pass a promise: Safari requires `write` to be called within the click, before the PNG is ready.
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
  canvas.getContext('2d')!.drawImage(picture, 0, 0)
  return canvas.convertToBlob({ type: 'image/png' })
}
