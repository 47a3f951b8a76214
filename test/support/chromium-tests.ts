/** Tests and hooks for files whose every test needs Chromium: skipped where it does not start. */
import * as runner from 'node:test'
import { whyNoChromium } from './browser.ts'

const skip = await whyNoChromium()

export function test(name: string, body: runner.TestFn): void {
  void runner.test(name, { skip }, body)
}

const unlessSkipped = (hook: typeof runner.before) => (body: runner.HookFn) => {
  if (skip === false) hook(body)
}

export const before = unlessSkipped(runner.before)
export const after = unlessSkipped(runner.after)
export const beforeEach = unlessSkipped(runner.beforeEach)
