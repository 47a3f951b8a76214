/**
 * Saves figures in Markdown pages. The tables of each bench are between two markers. Single figures in prose follow a comment
 * with the bench, the first cells of the row, and the column: `<!-- get | GET 10 KB | nginx -->0.84`.
 */
import { glob, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { machine, thisRun } from './machine.ts'

const root = path.join(import.meta.dirname, '../..')

export const SAVED = /<!-- figures: (.+?) -->\n([\s\S]*?)<!-- end: \1 -->/g
export const MARKED = /<!-- ([^>]+ \| [^>]+) -->([\d,.]*\d)/g

/** Saves the figures of a bench in `page`, then updates the machine and the single figures in all pages. */
export async function saveFigures(bench: string, figures: string, page: string): Promise<void> {
  await replace(page, bench, `${thisRun()}\n\n${figures}`)
  await replace('bench/README.md', 'machine', machine())
  const pages = await readPages()
  const figureOf = createLookup(pages.values())
  for (const [name, text] of pages) {
    const updated = text.replaceAll(MARKED, (whole, marker, old) => {
      const figure = figureOf(marker)
      return figure === null ? whole : whole.slice(0, whole.length - old.length) + figure
    })
    if (updated !== text) await writeFile(path.join(root, name), updated)
  }
}

async function replace(page: string, section: string, figures: string): Promise<void> {
  const file = path.join(root, page)
  const text = await readFile(file, 'utf8')
  const begin = `<!-- figures: ${section} -->`
  const from = text.indexOf(begin)
  const to = text.indexOf(`<!-- end: ${section} -->`)
  if (from < 0 || to < from) throw new Error(`${page} has no markers for ${section}`)
  await writeFile(file, `${text.slice(0, from + begin.length)}\n${figures}\n${text.slice(to)}`)
}

/** Pages by their path in the repository. */
export async function readPages(): Promise<Map<string, string>> {
  const pages = new Map<string, string>()
  for await (const page of glob(['*.md', 'docs/*.md', 'bench/*.md'], { cwd: root }))
    pages.set(page, await readFile(path.join(root, page), 'utf8'))
  return pages
}

/** Returns a lookup of the figure for a marker in the saved tables; `null` when there is none. */
export function createLookup(pages: Iterable<string>): (marker: string) => string | null {
  const tables = new Map<string, string[][]>()
  for (const text of pages)
    for (const [, bench, figures] of text.matchAll(SAVED))
      tables.set(
        bench!,
        figures!
          .split('\n')
          .filter((line) => line.startsWith('|'))
          .map(cellsOf),
      )

  return (marker) => {
    const [bench, ...words] = marker.split(' | ')
    const column = words.pop()!
    const rows = tables.get(bench!) ?? []
    let head: string[] = []
    for (const [index, row] of rows.entries()) {
      if (rows[index + 1]?.every((cell) => /^:?-+:?$/.test(cell))) head = row
      else if (words.every((word, i) => row[i] === word)) {
        return row[head.indexOf(column)]?.split(' ')[0] || null
      }
    }
    return null
  }
}

function cellsOf(line: string): string[] {
  return line
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim())
}
