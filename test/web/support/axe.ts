/** axe, in a page whose policy lets no script of others in. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Findings for WCAG 2.2 AA and best practices, as `rule: element`. */
export async function axeOn(page: Page): Promise<string[]> {
  // Contrast is the system's there; axe reads text fills of Chromium's that nobody sees.
  const isForced = await page.evaluate(() => matchMedia('(forced-colors: active)').matches)
  const rules = { 'color-contrast': { enabled: !isForced } }
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE)
  return page.evaluate(async (rules) => {
    const { axe } = globalThis as unknown as { axe: typeof import('axe-core') }
    // A colour half-way through its transition is no state of the page.
    const changes = document.getAnimations().filter((change) => change instanceof CSSTransition)
    await Promise.allSettled(changes.map((change) => change.finished))
    const { violations } = await axe.run({ rules })
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
  }, rules)
}
