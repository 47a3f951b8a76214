// bun upload.ts holiday.jpg https://pics.example
import { type Progress, Refusal, upload } from 'pinhole/client'

const [path = '', baseUrl = ''] = Bun.argv.slice(2)
try {
  const { link, key, bytesIn, bytesOut } = await upload(Bun.file(path), {
    baseUrl,
    signal: AbortSignal.timeout(60_000),
    onProgress(progress: Progress) {
      if (progress.stage === 'uploading') console.error(`${progress.percent} %`)
    },
  })
  console.log(link)
  console.error(`${bytesIn} bytes became ${bytesOut}. This deletes the picture: ${key}`)
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  console.error(error.code, error.detail)
  process.exitCode = 1
}
