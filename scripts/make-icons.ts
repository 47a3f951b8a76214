/** Renders the PNG icons and `favicon.ico` from `icon.svg`. Run it when the drawing changes. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'

const here = join(import.meta.dirname, '../src/web/icons')
const svg = await readFile(join(here, 'icon.svg'), 'utf8')
// Systems crop a maskable icon to their own shape, so its background must reach the corners.
const square = svg.replace(' rx="14"', '')

async function png(source: string, side: number): Promise<Buffer> {
  return sharp(Buffer.from(source), { density: (72 * side) / 64 })
    .resize(side, side)
    .png({ compressionLevel: 9, palette: true })
    .toBuffer()
}

await writeFile(join(here, 'icon-192.png'), await png(svg, 192))
await writeFile(join(here, 'icon-512.png'), await png(svg, 512))
await writeFile(join(here, 'icon-maskable-512.png'), await png(square, 512))
await writeFile(join(here, 'apple-icon.png'), await png(square, 180))

/** Shown in link previews of the service: the light, the hole, the name. */
const preview = `<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="630">
  <rect width="1200" height="630" fill="#f6f1e7"/>
  <path d="M0 120 600 290 0 460ZM1200 40 600 290l600 250Z" fill="#fffaf0" stroke="#d8cdb8" stroke-width="2"/>
  <circle cx="600" cy="290" r="26" fill="#17130d"/>
  <text x="600" y="470" font-family="Georgia, P052, serif" font-size="92" text-anchor="middle" fill="#211c15">Pinhole</text>
  <text x="600" y="545" font-family="Georgia, P052, serif" font-size="40" text-anchor="middle" fill="#5e5547">A picture in, a link out.</text>
</svg>`
await writeFile(
  join(here, 'preview.png'),
  await sharp(Buffer.from(preview)).png({ compressionLevel: 9, palette: true }).toBuffer(),
)

// An icon file may embed a PNG unchanged: a header of 6 bytes, one entry of 16, then the PNG.
const small = await png(svg, 32)
const header = Buffer.alloc(22)
header.writeUInt16LE(1, 2)
header.writeUInt16LE(1, 4)
header.writeUInt8(32, 6)
header.writeUInt8(32, 7)
header.writeUInt16LE(1, 10)
header.writeUInt16LE(32, 12)
header.writeUInt32LE(small.length, 14)
header.writeUInt32LE(header.length, 18)
await writeFile(join(here, 'favicon.ico'), Buffer.concat([header, small]))
