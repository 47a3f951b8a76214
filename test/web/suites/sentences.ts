/** What the page says of a picture that was not taken, then and after it is loaded again: all of it is true. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { gif } from '../support/pictures.ts'
import type { Site } from '../support/site.ts'
import { cardIn, choose } from '../support/steps.ts'

interface Told {
  /** As the service refuses it. */
  error: string
  status: number
  /** What the card says of it. */
  said: RegExp
  /** The same file may be taken another time: the card offers that, and so does the page when it comes back. */
  mayPass: boolean
}

const TABLE: Told[] = [
  { error: 'unsupported-type', status: 415, said: /file type isn’t supported/, mayPass: false },
  { error: 'damaged-image', status: 422, said: /cut off or broken/, mayPass: false },
  { error: 'blocked-image', status: 403, said: /has blocked it/, mayPass: false },
  { error: 'file-too-large', status: 413, said: /limit is|can be up to/, mayPass: false },
  { error: 'too-many-refusals', status: 429, said: /after midnight UTC/, mayPass: true },
  { error: 'cross-site', status: 403, said: /form on this page/, mayPass: true },
]

export function sentencesSuite(site: () => Site): void {
  for (const { error, status, said, mayPass } of TABLE) {
    it(`says what is true of a picture that is refused: ${error}`, async () => {
      const { page, end } = await site().visit({ expected: /^Failed to load resource: / })
      const { proxy } = site()
      const kept = Promise.withResolvers<void>()
      const body = JSON.stringify({ type: 'about:blank', title: 'x', status, detail: 'x', error })
      proxy.onUpload = () => ({ kind: 'answer', status, body })
      // The answer comes when the page has put the picture by.
      proxy.onOther = (path) =>
        path.includes('uploading') ? { kind: 'hold', until: kept.promise } : { kind: 'none' }
      await choose(page, [await gif('refused.gif', 71)])
      await page.waitForFunction(async () => (await (await caches.open('kept-files')).keys()).length === 1)
      kept.resolve()
      const failed = await cardIn(page, 'failed', 'refused.gif')
      await failed.locator('.card-state').filter({ hasText: said }).waitFor()
      assert.equal(await failed.locator('[data-action="retry"]').isVisible(), mayPass)
      await page.waitForFunction(
        async (count) => (await (await caches.open('kept-files')).keys()).length === count,
        mayPass ? 1 : 0,
      )
      proxy.onOther = () => ({ kind: 'none' })
      await page.reload()
      if (mayPass) {
        await page.locator('#offer-title').filter({ hasText: '1 picture was not sent' }).waitFor()
      } else {
        await page.locator('html[data-live]').waitFor()
        await page.waitForLoadState('networkidle')
        assert.equal(await page.locator('#offer').isVisible(), false, 'it was refused, not left unsent')
      }
      await end()
    })
  }
}
