/** All pictures of a gallery in one ZIP file, put together here: the server knows of no gallery. */
import { downloadZip } from 'client-zip'
import { EXTENSIONS, type ImageType, rawPath } from '../../../protocol.ts'
import { fill } from '../../messages/wording.ts'
import type { GalleryFacts } from '../../pages/page-facts.ts'
import { saveFile } from '../page/save-file.ts'
import { say } from '../page/status.ts'
import type { Linked } from './link.ts'

/** One after the other, so that a phone holds one picture at a time besides the file. `tell`: how far it is. */
export async function downloadAll(
  pictures: Linked[],
  words: GalleryFacts['words'],
  tell: (text: string) => void,
): Promise<void> {
  let missed = 0

  async function* entries() {
    for (const [index, { id }] of pictures.entries()) {
      tell(fill(words.downloading, { number: index + 1, count: pictures.length }))
      const answer = await fetch(rawPath(id)).catch(() => null)
      const bytes = answer?.ok ? await answer.blob().catch(() => null) : null
      if (!answer || !bytes) {
        missed++
        continue
      }
      const extension = EXTENSIONS[answer.headers.get('Content-Type') as ImageType] ?? 'bin'
      const number = `${index + 1}`.padStart(`${pictures.length}`.length, '0')
      yield { name: `${number}-${id}.${extension}`, input: bytes.stream(), size: bytes.size }
    }
  }

  const file = await downloadZip(entries()).blob()
  if (missed === pictures.length) return say(words.unreachable)
  saveFile(file, 'pictures.zip')
  if (missed > 0) say(fill(words.missed, { count: missed }))
}
