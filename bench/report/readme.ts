/** The figures that are kept in pages, each bench's between two markers of its own. */
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'

const root = path.join(import.meta.dirname, '../..')

/** `page`: its path in the repository. */
export async function saveFigures(bench: string, figures: string, page: string): Promise<void> {
  const file = path.join(root, page)
  const text = await readFile(file, 'utf8')
  const begin = `<!-- figures: ${bench} -->`
  const end = `<!-- end: ${bench} -->`
  const from = text.indexOf(begin)
  const to = text.indexOf(end)
  if (from < 0 || to < from) throw new Error(`${page} has no place for ${bench}`)
  await writeFile(file, `${text.slice(0, from + begin.length)}\n${figures}\n${text.slice(to)}`)
}
