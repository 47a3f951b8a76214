/** Demo pictures for screenshots, generated here to be free of third-party rights. */
import sharp from 'sharp'

const WIDTH = 1600
const HEIGHT = 1200

/** Misty hills. */
export function hills(): Promise<Buffer> {
  const ridges = ['#c9b6a4', '#a68f83', '#7c6a68', '#544a52', '#2f2c38'].map((colour, index) => {
    const base = 560 + index * 140
    const points = Array.from({ length: 33 }, (_, step) => {
      const x = (step / 32) * WIDTH
      const y = base - 90 * Math.sin(step * 0.37 + index * 1.9) - 46 * Math.sin(step * 0.91 + index * 4.1)
      return `${x.toFixed(0)},${y.toFixed(0)}`
    })
    return `<polygon fill="${colour}" points="0,${HEIGHT} ${points.join(' ')} ${WIDTH},${HEIGHT}"/>`
  })
  return photograph(
    `${sky('#f3d9b8', '#e7a978')}<circle cx="1130" cy="430" r="74" fill="#fff1d2"/>${ridges.join('')}`,
  )
}

/** A boat on a still sea before dawn. */
export function sea(): Promise<Buffer> {
  const waves = Array.from({ length: 40 }, (_, index) => {
    const y = 720 + index * 12
    const x = 760 + Math.sin(index * 2.3) * 40
    return `<rect x="${x - index * 5}" y="${y}" width="${90 + index * 9}" height="3" fill="#ffe2b0" opacity="${0.75 - index * 0.016}"/>`
  })
  return photograph(`${sky('#20344f', '#e3a06b')}<circle cx="800" cy="640" r="60" fill="#ffe7bd"/>
    <rect y="690" width="${WIDTH}" height="510" fill="#1b2c42"/>${waves.join('')}
    <path d="M330 800h230l-40 46H372z" fill="#0d141e"/><path d="M440 560v236h98z" fill="#efe2cb"/><path d="M432 600v196h-70z" fill="#d8c6a8"/>`)
}

/** Two pears on a cloth. */
export function pears(): Promise<Buffer> {
  const pear = (x: number, y: number, tilt: number, light: string, dark: string) =>
    `<g transform="translate(${x} ${y}) rotate(${tilt})"><defs><radialGradient id="p${x}" cx=".35" cy=".35" r=".8"><stop offset="0" stop-color="${light}"/><stop offset="1" stop-color="${dark}"/></radialGradient></defs>
    <path d="M0-260c70 0 66 110 104 180 44 82 40 230-104 230s-148-148-104-230C-66-150-70-260 0-260z" fill="url(#p${x})"/><path d="M-4-252c0-50 14-74 40-92" stroke="#3b2a1a" stroke-width="14" fill="none"/></g>`
  return photograph(`${sky('#4a4038', '#6e6054')}<rect y="760" width="${WIDTH}" height="440" fill="#cdbfa8"/>
    <ellipse cx="700" cy="880" rx="260" ry="46" fill="#8d7f69"/><ellipse cx="1040" cy="900" rx="240" ry="42" fill="#8d7f69"/>
    ${pear(660, 730, -6, '#e6d27a', '#7d7a2c')}${pear(1000, 750, 14, '#e0b860', '#8a4b22')}`)
}

function sky(top: string, bottom: string): string {
  return `<defs><linearGradient id="s" x2="0" y2="1"><stop stop-color="${top}"/><stop offset="1" stop-color="${bottom}"/></linearGradient></defs><rect width="${WIDTH}" height="${HEIGHT}" fill="url(#s)"/>`
}

/** Renders the SVG with blur and film grain. */
async function photograph(drawing: string): Promise<Buffer> {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}">${drawing}</svg>`
  const grain = await sharp({
    create: {
      width: WIDTH,
      height: HEIGHT,
      channels: 3,
      background: '#808080',
      noise: { type: 'gaussian', mean: 128, sigma: 14 },
    },
  })
    .png()
    .toBuffer()
  return sharp(Buffer.from(svg))
    .blur(2.2)
    .composite([{ input: grain, blend: 'soft-light' }])
    .jpeg({ quality: 95 })
    .toBuffer()
}
