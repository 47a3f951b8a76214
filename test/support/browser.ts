/**
 * Real browsers for tests: the Chromium that npm installs, or the one that PINHOLE_CHROMIUM names; and the Firefox of
 * the system, or the one that PINHOLE_FIREFOX names.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Browser, chromium, firefox } from 'playwright-core'
import { ROOT } from './processes/process.ts'

export type Engine = 'chromium' | 'firefox'

const PACKAGE = dirname(dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))))

const PACKED = ['chromium.br', 'swiftshader.tar.br', 'al2023.tar.br', 'fonts.tar.br']

/**
 * The Chromium that npm installs (`@sparticuz/chromium`), unpacked, with the libraries and the font that come with it: it starts on a
 * system that has neither. `PINHOLE_CHROMIUM` names another one, which is started as it is.
 */
export async function chromiumHere(): Promise<{ executablePath: string; env: NodeJS.ProcessEnv }> {
  const { env } = process
  if (env.PINHOLE_CHROMIUM) return { executablePath: env.PINHOLE_CHROMIUM, env }
  const { version } = JSON.parse(await readFile(join(PACKAGE, 'package.json'), 'utf8')) as { version: string }
  const folder = join(ROOT, 'node_modules/.cache', `chromium-${version}`)
  if (!existsSync(folder)) await unpack(folder)
  return {
    executablePath: join(folder, 'chromium'),
    env: {
      ...env,
      LD_LIBRARY_PATH: [join(folder, 'al2023/lib'), env.LD_LIBRARY_PATH].filter(Boolean).join(':'),
      ...(existsSync('/etc/fonts/fonts.conf') ? {} : { FONTCONFIG_FILE: join(folder, 'fonts.conf') }),
    },
  }
}

/** Several processes may do it at the same time: the folder appears whole, or not at all. */
async function unpack(folder: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true })
  const draft = await mkdtemp(`${folder}-`)
  try {
    // The package unpacks into the folder for temporary files, whatever that is.
    const script = `import { inflate } from '@sparticuz/chromium'
      for (const path of process.argv.slice(1)) await inflate(path)`
    const words = [
      '--input-type=module',
      '--eval',
      script,
      ...PACKED.map((name) => join(PACKAGE, 'bin', name)),
    ]
    await promisify(execFile)(process.execPath, words, { cwd: ROOT, env: { ...process.env, TMPDIR: draft } })
    await writeFile(
      join(draft, 'fonts.conf'),
      `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/fonts-cache</cachedir></fontconfig>
`,
    )
    await rename(draft, folder).catch((error) => {
      if (!existsSync(folder)) throw error
    })
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

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
  const launch = () =>
    chromium.launch({
      executablePath,
      env,
      headless: true,
      // It opens nothing but our own pages. Its sandbox starts neither as root nor in a chroot.
      chromiumSandbox: false,
      args: [...QUIET, ...SMALL, ...extraArguments],
      timeout,
    })
  // In one of some hundred starts it crashes.
  return launchTwice(launch, /SIGSEGV/)
}

/** Starts a browser a second time after a failure that no test is about. */
function launchTwice(launch: () => Promise<Browser>, failure: RegExp): Promise<Browser> {
  return launch().catch((error) => (failure.test(`${error}`) ? launch() : Promise.reject(error)))
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
  const launch = () =>
    firefox.launch({
      channel: 'moz-firefox',
      executablePath: process.execPath,
      ignoreDefaultArgs: true,
      args: [join(import.meta.dirname, 'firefox-bridge.ts'), firefoxPath()],
      timeout: 60_000,
    })
  // In one of some hundred starts it listens and never creates a session.
  return launchTwice(launch, /ws connected/)
}
