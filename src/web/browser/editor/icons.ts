/** Drawings on the editor's buttons, as paths in a square of 24. */
const PATHS = {
  redact: 'M3 8h18v8H3ZM3 10h18M3 12h18M3 14h18',
  crop: 'M7 2v15h15M2 7h15v15',
  arrow: 'M5 19 19 5M9 5h10v10',
  pen: 'M3 18c3-8 5-12 7-12s0 9 3 9 3-5 8-5',
  text: 'M5 7V4h14v3M12 4v16M9 20h6',
  move: 'M12 3v18M3 12h18M9 6l3-3 3 3M9 18l3 3 3-3M6 9l-3 3 3 3M18 9l3 3-3 3',
  rotate: 'M20 12a8 8 0 1 1-2.5-6M20 3v5h-5',
  undo: 'M9 6 4 11l5 5M4 11h10a5 5 0 0 1 0 10h-2',
  redo: 'M15 6l5 5-5 5M20 11H10a5 5 0 0 0 0 10h2',
  zoomIn: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14ZM21 21l-5-5M8 11h6M11 8v6',
  zoomOut: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14ZM21 21l-5-5M8 11h6',
  add: 'M4 4h16v16H4ZM12 8v8M8 12h8',
  remove: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13',
}

export type IconName = keyof typeof PATHS

const SVG = 'http://www.w3.org/2000/svg'

export function icon(name: IconName): SVGElement {
  const svg = document.createElementNS(SVG, 'svg')
  svg.setAttribute('viewBox', '0 0 24 24')
  svg.setAttribute('aria-hidden', 'true')
  svg.setAttribute('class', 'edit-icon')
  const path = document.createElementNS(SVG, 'path')
  path.setAttribute('d', PATHS[name])
  svg.append(path)
  return svg
}
