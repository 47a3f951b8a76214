/** axe, in a page whose policy lets no script of others in. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** All rules that axe has on by itself, and WCAG 2.2's for the size of targets. */
const ALL: RunOptions = { rules: { 'target-size': { enabled: true } } }

/** What colours and the width of the screen can change. */
export const OF_LOOKS: RunOptions = {
  runOnly: {
    type: 'rule',
    values: ['color-contrast', 'link-in-text-block', 'target-size', 'scrollable-region-focusable'],
  },
}

/** Findings for WCAG 2.2 AA and best practices, as `rule: element`. */
export async function axeOn(page: Page, options = ALL): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE)
  return page.evaluate(async (options) => {
    const { axe } = globalThis as unknown as { axe: typeof import('axe-core') }
    // A colour half-way through its transition is no state of the page.
    const changes = document.getAnimations().filter((change) => change instanceof CSSTransition)
    await Promise.allSettled(changes.map((change) => change.finished))
    const { violations } = await axe.run(options)
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
  }, options)
}
