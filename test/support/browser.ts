/**
 * Real browsers for tests: the Chromium that npm installs, or the one that PINHOLE_CHROMIUM names; and the Firefox of
 * the system, or the one that PINHOLE_FIREFOX names.
 */
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium, firefox } from 'playwright-core'
import { chromiumHere } from './chromium.ts'

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
export async function launchBrowser(extraArguments: string[] = [], timeout = 60_000): Promise<Browser> {
  const { executablePath, env } = await chromiumHere()
  return chromium.launch({
    executablePath,
    env,
    headless: true,
    // It opens nothing but our own pages. Its sandbox starts neither as root nor in a chroot.
    chromiumSandbox: false,
    args: [...QUIET, ...SMALL, ...extraArguments],
    timeout,
  })
}

/** Left in the run's temporary folder by the first test file that saw Chromium start: the others need not try. */
const STARTED = join(tmpdir(), 'chromium-starts')

/** Why tests in Chromium are skipped, or `false`. In CI they are not: they fail. Takes seconds at most. */
export async function whyNoChromium(): Promise<string | false> {
  if (process.env.PINHOLE_CI) return false
  const isRun = process.env.PINHOLE_RUN !== undefined
  if (isRun && existsSync(STARTED)) return false
  try {
    const browser = await launchBrowser([], 20_000)
    await browser.newPage().finally(() => browser.close())
    if (isRun) await writeFile(STARTED, '')
    return false
  } catch (error) {
    const lines = `${error}`.split('\n').map((line) => line.replace(/^.*?\[err\] /, '').trim())
    const why = lines.find((line) => /cannot open|cannot execute|no such file|ENOENT|EACCES/i.test(line))
    return `Chromium does not start here: ${why ?? lines[0]}`
  }
}

const firefoxPath = () => process.env.PINHOLE_FIREFOX ?? '/usr/bin/firefox-esr'

/** Why tests in Firefox are skipped, or `false`. Where it must be there they are not: they fail. */
export const noFirefox: string | false =
  existsSync(firefoxPath()) || process.env.PINHOLE_CI
    ? false
    : `no Firefox at ${firefoxPath()}: apt-get install firefox-esr`

/** Starts headless Firefox, over WebDriver BiDi. The caller closes it. */
export function launchFirefox(): Promise<Browser> {
  return firefox.launch({
    channel: 'moz-firefox',
    executablePath: process.execPath,
    ignoreDefaultArgs: true,
    args: [join(import.meta.dirname, 'firefox-bridge.ts'), firefoxPath()],
    timeout: 60_000,
  })
}
