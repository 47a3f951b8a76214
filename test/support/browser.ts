/** Real Chromium for tests: the one that npm installs, or the one that PINHOLE_CHROMIUM names. */
import chromiumBinary from '@sparticuz/chromium'
import { type Browser, chromium } from 'playwright-core'

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
