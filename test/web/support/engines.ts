/** Tests that can run in one engine only. */
import type { TestContext } from 'node:test'
import type { Site } from './site.ts'

/** Leaves a test out where it does not run in Chromium. `why`: what it needs that Firefox, or its protocol, has not. */
export function onlyChromium(t: TestContext, { engine }: Site, why: string): boolean {
  if (engine === 'chromium') return false
  t.skip(`does not apply: ${why}`)
  return true
}
