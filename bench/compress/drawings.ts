/** Deterministic drawings of 9 MP, like exports from illustration and chart programs. */
import sharp, { type Sharp } from 'sharp'

const SIDE = 3000

export function drawings(): Record<string, Sharp> {
  return {
    'smooth drawing': drawn(SKY + hills(12)),
    'flat drawing': drawn(`<rect width="${SIDE}" height="${SIDE}" fill="#fdf6e3"/>${hills(40)}`),
    'line drawing': drawn(`<rect width="${SIDE}" height="${SIDE}" fill="#fff"/>${lines(900)}`),
    'soft drawing': drawn(SKY + hills(60)).blur(40),
    'drawing with grain': sharp({
      create: {
        width: SIDE,
        height: SIDE,
        channels: 3,
        background: '#888',
        noise: { type: 'gaussian', mean: 128, sigma: 8 },
      },
    }).composite([{ input: picture(SKY + hills(12)), blend: 'hard-light' }]),
  }
}

/** An image with the spectrum of a photograph: layers of noise at several scales. */
export async function photographOf(width: number, height: number): Promise<Sharp> {
  const layers = await Promise.all(
    [1, 4, 16].map((scale) =>
      sharp({
        create: {
          width: Math.ceil(width / scale / 2),
          height: Math.ceil(height / scale / 2),
          channels: 3,
          background: '#888',
          noise: { type: 'gaussian', mean: 128, sigma: 12 + 4 * scale },
        },
      })
        .resize(width, height, { fit: 'fill', kernel: 'cubic' })
        .png({ compressionLevel: 1 })
        .toBuffer(),
    ),
  )
  const [fine, ...coarser] = layers
  return sharp(fine).composite(coarser.map((input) => ({ input, blend: 'soft-light' })))
}

const SKY =
  '<defs><linearGradient id="sky" x2="0.3" y2="1"><stop stop-color="#0b3a6e"/><stop offset="0.6" stop-color="#e8a87c"/>' +
  '<stop offset="1" stop-color="#f6e7cb"/></linearGradient><radialGradient id="hill" cx="0.3" cy="0.2">' +
  '<stop stop-color="#9bc58a"/><stop offset="1" stop-color="#28502f"/></radialGradient></defs>' +
  `<rect width="${SIDE}" height="${SIDE}" fill="url(#sky)"/>`

function hills(count: number): string {
  return Array.from({ length: count }, (_, i) => {
    const [x, y, r] = [(i * 709) % SIDE, (i * 1_117) % SIDE, 100 + ((i * 131) % 500)]
    const fill = i % 2 === 0 && count < 40 ? 'url(#hill)' : `hsl(${(i * 47) % 360} 60% 55%)`
    return `<ellipse cx="${x}" cy="${y}" rx="${r}" ry="${r / 2}" fill="${fill}" transform="rotate(${i * 17} ${x} ${y})"/>`
  }).join('')
}

function lines(count: number): string {
  return Array.from({ length: count }, (_, i) => {
    const at = (factor: number) => (i * factor) % SIDE
    const curve = `M${at(37)} ${at(91)} Q${at(53)} ${at(149)} ${at(211)} ${at(67)}`
    return `<path d="${curve}" fill="none" stroke="#223" stroke-width="${1 + (i % 5)}"/>`
  }).join('')
}

function drawn(shapes: string): Sharp {
  return sharp(picture(shapes))
}

function picture(shapes: string): Buffer {
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${SIDE}" height="${SIDE}">${shapes}</svg>`,
  )
}
