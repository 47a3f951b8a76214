/** Quality over bytes, as a picture: a line for stock mozjpeg, a spot for each contestant, over all photographs. */
import { geometricMean, type Point } from './equal-quality.ts'

const [WIDTH, HEIGHT] = [720, 420]
const EDGE = { left: 60, right: 20, top: 20, bottom: 50 }

const SERIES = [
  {
    name: 'stock mozjpeg 78, 84, 90 (4:2:0)',
    settings: [78, 84, 90].map((q) => `4:2:0/t3/trellis/plain/${q}/${q}`),
    colour: '#888',
  },
  {
    name: 'stock mozjpeg 78, 84, 90 (4:4:4)',
    settings: [78, 84, 90].map((q) => `4:4:4/t3/trellis/plain/${q}/${q}`),
    colour: '#bbb',
  },
  { name: 'compressorjs 0.8', settings: ['4:2:0/compressorjs'], colour: '#c2410c' },
  { name: 'Pinhole (4:2:0)', settings: ['4:2:0/engine'], colour: '#0f766e' },
  { name: 'Pinhole (4:4:4)', settings: ['4:4:4/engine'], colour: '#5eead4' },
]

/** An SVG. */
export function plot(points: Point[]): string {
  const series = SERIES.map(({ settings, ...rest }) => ({
    ...rest,
    spots: settings.flatMap((setting) => {
      const own = points.filter((point) => point.setting === setting)
      if (own.length === 0) return []
      const bits = geometricMean(own.map(({ bytes, pixels }) => (8 * bytes) / pixels))
      return [{ bits, score: own.reduce((sum, { score }) => sum + score, 0) / own.length }]
    }),
  }))
  const all = series.flatMap(({ spots }) => spots)
  const [minX, maxX] = [
    Math.min(...all.map(({ bits }) => bits)) * 0.9,
    Math.max(...all.map(({ bits }) => bits)) * 1.1,
  ]
  const [minY, maxY] = [
    Math.floor(Math.min(...all.map(({ score }) => score)) - 1),
    Math.ceil(Math.max(...all.map(({ score }) => score)) + 1),
  ]
  const x = (bits: number) =>
    EDGE.left + ((WIDTH - EDGE.left - EDGE.right) * Math.log(bits / minX)) / Math.log(maxX / minX)
  const y = (score: number) =>
    HEIGHT - EDGE.bottom - ((HEIGHT - EDGE.top - EDGE.bottom) * (score - minY)) / (maxY - minY)
  const lines = Array.from({ length: maxY - minY + 1 }, (_, i) => minY + i).filter((score) => score % 2 === 0)
  const grid = lines.map(
    (score) =>
      `<path d="M${EDGE.left} ${y(score).toFixed(1)}H${WIDTH - EDGE.right}" stroke="#ddd"/><text x="${EDGE.left - 8}" y="${(y(score) + 4).toFixed(1)}" text-anchor="end">${score}</text>`,
  )
  const marks = [0.5, 0.6, 0.8, 1, 1.2, 1.4, 1.6, 2, 2.4].filter((bits) => bits > minX && bits < maxX)
  const ticks = marks.map(
    (bits) =>
      `<text x="${x(bits).toFixed(1)}" y="${HEIGHT - EDGE.bottom + 18}" text-anchor="middle">${bits}</text>`,
  )
  const drawn = series.map(({ name, colour, spots }, i) => {
    const path = spots.map(({ bits, score }) => `${x(bits).toFixed(1)} ${y(score).toFixed(1)}`).join('L')
    const dots = spots.map(
      ({ bits, score }) =>
        `<circle cx="${x(bits).toFixed(1)}" cy="${y(score).toFixed(1)}" r="5" fill="${colour}"/>`,
    )
    const legend = `<circle cx="${EDGE.left + 14}" cy="${EDGE.top + 14 + 20 * i}" r="5" fill="${colour}"/><text x="${EDGE.left + 26}" y="${EDGE.top + 18 + 20 * i}">${name}</text>`
    return `<path d="M${path}" fill="none" stroke="${colour}" stroke-width="2"/>${dots.join('')}${legend}`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="13" fill="#222">
<title>SSIMULACRA2 over bits a pixel, judging half</title>
<rect width="100%" height="100%" fill="#fff"/>
${[...grid, ...ticks, ...drawn].join('\n')}
<text x="${WIDTH / 2}" y="${HEIGHT - 10}" text-anchor="middle">bits a pixel (geometric mean, logarithmic)</text>
<text x="16" y="${HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 16 ${HEIGHT / 2})">SSIMULACRA2 (mean)</text>
</svg>
`
}
