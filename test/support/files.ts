/** Inspects a server's data folder from outside. */
import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { ID_PATTERN } from '../../src/protocol.ts'

/** The server's own files, other than images. */
const OWN = /^(ledger\.sqlite.*|layout|(usage|links)-[-0-9]+\.sqlite.*|salt-[-0-9]+(-links)?)$/

/** Paths of image files by id, and unexpected other files. */
export async function filesIn(dataDir: string): Promise<{ images: Map<string, string>; others: string[] }> {
  const entries = await readdir(dataDir, { recursive: true, withFileTypes: true })
  const images = new Map<string, string>()
  const others: string[] = []
  for (const entry of entries) {
    if (!entry.isFile() || OWN.test(entry.name)) continue
    // Empty files of retired ids.
    if (basename(entry.parentPath) === 'retired') continue
    const path = join(entry.parentPath, entry.name)
    if (ID_PATTERN.test(entry.name)) images.set(entry.name, path)
    else others.push(path)
  }
  return { images, others }
}
