/** Combines screenshots into one image for review. */
import sharp from 'sharp'

export interface Shot {
  png: Buffer
  /** Width of the screen. Unit: pixels. */
  width: number
}

const SHEET_WIDTH = 1580
const GAP = 10
/** Taller screenshots are cropped. */
const MAX_HEIGHT = 1400

/** Wide screens are scaled by half. */
export async function writeSheet(shots: Shot[], file: string): Promise<void> {
  if (shots.length === 0) return
  const scaled = await Promise.all(
    shots.map(async ({ png, width }) => {
      const small = await sharp(png)
        .resize({ width: width < 600 ? width : Math.round(width / 2) })
        .png({ compressionLevel: 1 })
        .toBuffer({ resolveWithObject: true })
      if (small.info.height <= MAX_HEIGHT) return small
      return sharp(small.data)
        .extract({ left: 0, top: 0, width: small.info.width, height: MAX_HEIGHT })
        .toBuffer({ resolveWithObject: true })
    }),
  )
  const placed: { input: Buffer; left: number; top: number }[] = []
  let [left, top, rowHeight] = [0, 0, 0]
  for (const { data, info } of scaled) {
    if (left > 0 && left + info.width > SHEET_WIDTH) {
      ;[left, top] = [0, top + rowHeight + GAP]
      rowHeight = 0
    }
    placed.push({ input: data, left, top })
    left += info.width + GAP
    rowHeight = Math.max(rowHeight, info.height)
  }
  await sharp({
    create: { width: SHEET_WIDTH, height: top + rowHeight, channels: 3, background: '#f0f' },
  })
    .composite(placed)
    .png({ palette: true, colours: 128 })
    .toFile(file)
}
