/** Runs axe despite the page's Content Security Policy. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** axe's default rules plus WCAG 2.2 target size. */
const ALL: RunOptions = { rules: { 'target-size': { enabled: true } } }

/** Rules that depend on colours and screen width. */
export const VISUAL_RULES: RunOptions = {
  runOnly: {
    type: 'rule',
    values: ['color-contrast', 'link-in-text-block', 'target-size', 'scrollable-region-focusable'],
  },
}

/** Violations of WCAG 2.2 AA and best practices, as `rule: element`. */
export async function axeOn(page: Page, options = ALL): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE)
  return page.evaluate(async (options) => {
    const { axe } = globalThis as unknown as { axe: typeof import('axe-core') }
    // Wait for transitions, because intermediate colours may fail.
    const changes = document.getAnimations().filter((change) => change instanceof CSSTransition)
    await Promise.allSettled(changes.map((change) => change.finished))
    const { violations } = await axe.run(options)
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
  }, options)
}
