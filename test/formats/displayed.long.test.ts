/** Reported sizes match the displayed sizes in Chromium, for every orientation. */
import assert from 'node:assert/strict'
import { memorySource } from '../../src/formats/image.ts'
import { inspect } from '../../src/formats/inspect.ts'
import { launchBrowser } from '../support/browser.ts'
import { test } from '../support/chromium-tests.ts'
import { picture } from '../support/images/pictures.ts'
import { scrub } from './subject.ts'

test('sizes match Chromium, before and after scrubbing', async () => {
  const browser = await launchBrowser()
  try {
    const page = await browser.newPage()
    const shownSize = (type: string, bytes: Buffer) =>
      page.evaluate(
        async (url) => {
          const image = new Image()
          image.src = url
          await image.decode()
          return [image.naturalWidth, image.naturalHeight]
        },
        `data:${type};base64,${bytes.toString('base64')}`,
      )
    for (const format of ['jpeg', 'png', 'webp', 'avif'] as const) {
      for (let orientation = 1; orientation <= 8; orientation++) {
        const file = await picture().withMetadata({ orientation }).toFormat(format).toBuffer()
        const { type, width, height } = await inspect(memorySource(file))
        const shown = await shownSize(type, file)
        assert.deepEqual([width, height], shown, `${format}, orientation ${orientation}`)
        assert.deepEqual(await shownSize(type, (await scrub(file)).file), shown)
      }
    }
  } finally {
    await browser.close()
  }
})
