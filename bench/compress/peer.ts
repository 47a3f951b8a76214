/** What compresses in real Chromium, with the settings that it comes with. */
import { join } from 'node:path'
import { launchBrowser } from '../../test/support/browser.ts'
import { serveEnginePage } from '../../test/support/engine-page.ts'

export async function startPeer() {
  const site = await serveEnginePage(join(import.meta.dirname, 'contestants.ts'))
  const browser = await launchBrowser()
  const page = await (await browser.newContext({ bypassCSP: true })).newPage()
  await page.goto(site.url)
  return {
    async compress(contestant: string, jpeg: Buffer): Promise<Buffer> {
      const { base64 } = await page.evaluate(
        ([contestant, input]) => window.run(contestant, input, 'image/jpeg'),
        [contestant, jpeg.toString('base64')] as const,
      )
      return Buffer.from(base64, 'base64')
    },
    async stop() {
      await browser.close()
      site.close()
    },
  }
}
