/**
 * Real browsers for tests: the Chromium that npm installs, or the one that PINHOLE_CHROMIUM names; and the Firefox of
 * the system, or the one that PINHOLE_FIREFOX names.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import chromiumBinary from '@sparticuz/chromium'
import { type Browser, chromium, firefox } from 'playwright-core'

export type Engine = 'chromium' | 'firefox'

const QUIET = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-domain-reliability',
  '--disable-extensions',
  '--disable-sync',
  '--metrics-recording-only',
  '--no-first-run',
  '--no-pings',
]

/** Processes of its own for drawing and for each site bring nothing here, and cost an eighth of the suite. */
const SMALL = ['--disable-gpu', '--in-process-gpu', '--disable-site-isolation-trials', '--process-per-site']

/** Starts headless Chromium. The caller closes it. */
export async function launchBrowser(extraArguments: string[] = []): Promise<Browser> {
  const executablePath = process.env.PINHOLE_CHROMIUM ?? (await chromiumBinary.executablePath())
  // Chromium's sandbox does not start as root, which is what containers run tests as.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return chromium.launch({
    executablePath,
    headless: true,
    args: [...sandbox, ...QUIET, ...SMALL, ...extraArguments],
  })
}

const FIREFOX = process.env.PINHOLE_FIREFOX ?? '/usr/bin/firefox-esr'

/** Why tests in Firefox are skipped, or `false`. Where it must be there they are not: they fail. */
export const noFirefox: string | false =
  existsSync(FIREFOX) || process.env.PINHOLE_CI
    ? false
    : `no Firefox at ${FIREFOX}: apt-get install firefox-esr`

/** Starts headless Firefox, over WebDriver BiDi. The caller closes it. */
export function launchFirefox(): Promise<Browser> {
  return firefox.launch({
    channel: 'moz-firefox',
    executablePath: process.execPath,
    ignoreDefaultArgs: true,
    args: [join(import.meta.dirname, 'firefox-bridge.ts'), FIREFOX],
    timeout: 60_000,
  })
}
