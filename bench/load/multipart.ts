/** Upload bodies, built before the measure. */
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'

export const BOUNDARY = '----pinhole-bench-7d0c1f5a9e'

export function multipartHead(fileName: string): Buffer {
  return Buffer.from(
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${fileName}"\r\n` +
      'Content-Type: application/octet-stream\r\n\r\n',
  )
}

export const multipartTail = Buffer.from(`\r\n--${BOUNDARY}--\r\n`)

/** Writes `1.body`, `2.body`, … for `upload.lua`, and gives the arguments that it is called with. */
export async function writeBodies(folder: string, pictures: Buffer[]): Promise<string[]> {
  await mkdir(folder, { recursive: true })
  for (const [index, picture] of pictures.entries()) {
    const body = Buffer.concat([multipartHead('photo.jpg'), picture, multipartTail])
    await writeFile(path.join(folder, `${index + 1}.body`), body)
  }
  return [folder, String(pictures.length), BOUNDARY]
}

/** Uploads one picture; gives its id. */
export async function upload(baseUrl: string, picture: Uint8Array<ArrayBuffer>): Promise<string> {
  const form = new FormData()
  form.append('file', new Blob([picture]), 'photo.jpg')
  const response = await fetch(`${baseUrl}/api/upload`, { method: 'POST', body: form })
  if (response.status !== 201) throw new Error(`upload: ${response.status} ${await response.text()}`)
  const { id } = (await response.json()) as { id: string }
  return id
}
