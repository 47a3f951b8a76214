/** Draws a flame graph: callers below callees, with the width proportional to time. */
import type { Frame } from './profile.ts'

const WIDTH = 1200
const ROW = 17
/** Narrower boxes are omitted. Unit: pixels. */
const MIN_WIDTH = 1
const LETTER_WIDTH = 6.3
const MAX_ROWS = 34

export function flameGraph(title: string, root: Frame): string {
  const boxes: string[] = []
  let highest = 0

  function draw(frame: Frame, row: number, at: number): void {
    const width = (frame.total / root.total) * WIDTH
    if (width < MIN_WIDTH || row > MAX_ROWS) return
    highest = Math.max(highest, row)
    boxes.push(box(frame, row, at, width, root.total))
    let x = at
    for (const child of frame.children) {
      draw(child, row + 1, x)
      x += (child.total / root.total) * WIDTH
    }
  }

  draw(root, 0, 0)
  const height = (highest + 3) * ROW
  const flipped = boxes.map((each) =>
    each.replaceAll(/Y(\d+)/g, (_, row) => `${height - (Number(row) + 1) * ROW}`),
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="monospace" font-size="10.5">
<title>${escaped(title)}</title>
<rect width="${WIDTH}" height="${height}" fill="#fff"/><text x="6" y="14" font-size="13">${escaped(title)}</text>
${flipped.join('\n')}
</svg>
`
}

function box({ name, part, total }: Frame, row: number, at: number, width: number, all: number): string {
  const share = ((total / all) * 100).toFixed(1)
  const letters = Math.floor((width - 6) / LETTER_WIDTH)
  const label =
    letters < 3
      ? ''
      : `<text x="${(at + 3).toFixed(1)}" y="Y${row}" dy="12">${escaped(name.slice(0, letters))}</text>`
  return `<g><title>${escaped(`${name}: ${share} % (${part})`)}</title><rect x="${at.toFixed(1)}" y="Y${row}" width="${width.toFixed(1)}" height="${ROW - 1}" fill="${colourOf(part)}" rx="1"/>${label}</g>`
}

function colourOf(part: string): string {
  if (part.startsWith('ours')) return '#f2a65a'
  if (part === 'garbage collection') return '#d0d0d0'
  if (part.startsWith('to ')) return '#8fb8de'
  return part === 'digests' ? '#b39ddb' : '#f6d987'
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
