/** Makes the PNG icons and `favicon.ico` from `icon.svg`. Run it when the drawing changes. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'

const here = join(import.meta.dirname, '../src/web/icons')
const svg = await readFile(join(here, 'icon.svg'), 'utf8')
// Systems cut their own shape out of a maskable icon, so its ground must reach the corners.
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

// An icon file may hold a PNG as it is: a header of 6 bytes, one entry of 16, then the PNG.
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
