/** All pictures of a gallery in one ZIP file, built in the browser because the server knows no galleries. */
import { downloadZip } from 'client-zip'
import { EXTENSIONS, type ImageType, rawPath } from '../../../protocol.ts'
import { fill } from '../../messages/wording.ts'
import type { GalleryFacts } from '../../pages/page-facts.ts'
import { saveFile } from '../page/save-file.ts'
import { say } from '../page/status.ts'
import type { LinkedPicture } from './link.ts'

/** Downloads sequentially, so that a phone holds one picture in memory besides the archive. */
export async function downloadAll(
  pictures: LinkedPicture[],
  words: GalleryFacts['words'],
  onProgress: (text: string) => void,
): Promise<void> {
  let missed = 0

  async function* entries() {
    for (const [index, { id }] of pictures.entries()) {
      onProgress(fill(words.downloading, { number: index + 1, count: pictures.length }))
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
