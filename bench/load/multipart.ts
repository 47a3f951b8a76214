/** Multipart uploads of one file each. */

export const BOUNDARY = '----pinhole-bench-7d0c1f5a9e'

export function multipartHead(fileName: string): Buffer {
  return Buffer.from(
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="${fileName}"\r\n` +
      'Content-Type: application/octet-stream\r\n\r\n',
  )
}

export const multipartTail = Buffer.from(`\r\n--${BOUNDARY}--\r\n`)

export function bodyOf(picture: Buffer): Buffer {
  return Buffer.concat([multipartHead('photo.jpg'), picture, multipartTail])
}

/** Uploads one picture. Resolves to its ID. */
export async function upload(baseUrl: string, picture: Uint8Array): Promise<string> {
  const form = new FormData()
  form.append('file', new Blob([new Uint8Array(picture)]), 'photo.jpg')
  const response = await fetch(`${baseUrl}/api/upload`, { method: 'POST', body: form })
  if (response.status !== 201) throw new Error(`upload: ${response.status} ${await response.text()}`)
  const { id } = (await response.json()) as { id: string }
  return id
}
