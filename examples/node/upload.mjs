// node upload.mjs holiday.jpg https://pics.example
import { openAsBlob } from 'node:fs'
import { Refusal, upload } from 'pinhole/client'

const [path, baseUrl] = process.argv.slice(2)
try {
  const { link, key, bytesIn, bytesOut } = await upload(await openAsBlob(path), {
    baseUrl,
    signal: AbortSignal.timeout(60_000),
    onProgress({ stage, percent }) {
      if (stage === 'uploading') console.error(`${percent} %`)
    },
  })
  console.log(link)
  console.error(`${bytesIn} bytes became ${bytesOut}. This deletes the picture: ${key}`)
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  console.error(error.code, error.detail)
  process.exitCode = 1
}
