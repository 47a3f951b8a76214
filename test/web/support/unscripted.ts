/** Pages without scripts, for tools that need scripts themselves. */
import type { Page } from 'playwright-core'

/** Clones `plain` without the site's scripts, with style sheets for `scripting: none`. The caller closes the page. */
export async function withToolsFor(plain: Page): Promise<Page> {
  const context = await plain.context().browser()!.newContext({ reducedMotion: 'reduce' })
  const page = await context.newPage()
  const address = plain.url()
  const html = (await plain.content())
    .replaceAll(/<script\b.*?<\/script>/gs, '')
    .replaceAll(/<(\/?)noscript>/g, '<$1div>')
  await page.route('**/*.css', async (route) => {
    const answer = await route.fetch()
    const css = (await answer.text())
      .replaceAll(/\(scripting:\s*enabled\)/g, 'not all')
      .replaceAll(/\(scripting:\s*none\)/g, 'all')
    await route.fulfill({ response: answer, body: css })
  })
  await page.route(address, (route) => route.fulfill({ contentType: 'text/html', body: html }))
  await page.goto(address)
  return page
}
