/**
 * Stands between Playwright and Debian's Firefox, which it starts. Playwright asks every new profile to override
 * media features (`emulation.setMediaFeaturesOverride`), which Firefox 153 ESR does not know: it is answered here.
 * What a test would need it for is left out where the tests run in Firefox. With PINHOLE_UNOBSERVED, Firefox does not observe the
 * network for Playwright either: it would copy each upload into a string.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocket, WebSocketServer } from 'ws'

const isUnobserved = process.env.PINHOLE_UNOBSERVED !== undefined

/** Answers in place of Firefox's, by command. */
const ANSWERS = new Map<string, object>([
  ['emulation.setMediaFeaturesOverride', {}],
  ...(isUnobserved
    ? ([
        ['network.addIntercept', { intercept: '' }],
        ['network.addDataCollector', { collector: '' }],
      ] as const)
    : []),
])

const PREFERENCES = {
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.page': 0,
  'browser.startup.homepage_override.mstone': 'ignore',
  'datareporting.policy.dataSubmissionEnabled': false,
  'app.normandy.enabled': false,
  'browser.aboutwelcome.enabled': false,
  'extensions.systemAddon.update.enabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'services.settings.server': 'data:,',
  'browser.safebrowsing.malware.enabled': false,
  'browser.safebrowsing.phishing.enabled': false,
  'browser.safebrowsing.update.enabled': false,
  // As `reducedMotion: 'reduce'` does in Chromium.
  'ui.prefersReducedMotion': 1,
  // Reading the clipboard asks nobody.
  'dom.events.testing.asyncClipboard': true,
  'dom.disable_beforeunload': false,
  'dom.require_user_interaction_for_beforeunload': false,
}

const [program = '/usr/bin/firefox-esr', ...more] = process.argv.slice(2)
const profile = mkdtempSync(join(tmpdir(), 'pinhole-firefox-'))
const lines = Object.entries(PREFERENCES).map(
  ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`,
)
writeFileSync(join(profile, 'user.js'), lines.join(''))
const firefox = spawn(program, ['--headless', '--remote-debugging-port=0', '--profile', profile, ...more], {
  stdio: ['ignore', 'inherit', 'pipe'],
})
process.on('exit', () => {
  firefox.kill('SIGKILL')
  rmSync(profile, { recursive: true, force: true, maxRetries: 3 })
})
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => process.exit(1))
firefox.on('exit', (code) => process.exit(code ?? 1))

let heard = ''
firefox.stderr.setEncoding('utf8').on('data', (text: string) => {
  heard += text
  const address = /WebDriver BiDi listening on (ws:\/\/\S+)\n/.exec(heard)?.[1]
  if (address === undefined) return
  firefox.stderr.removeAllListeners('data').resume()
  listen(address)
})

interface Command {
  id: number
  method: string
  params: { events?: string[] }
}

function listen(address: string): void {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 }, () => {
    const { port } = server.address() as { port: number }
    process.stderr.write(`WebDriver BiDi listening on ws://127.0.0.1:${port}\n`)
  })
  server.on('connection', (playwright, { url }) => {
    const session = new WebSocket(address + url, { perMessageDeflate: false, maxPayload: 2 ** 28 })
    const early: string[] = []
    playwright.on('message', (data) => {
      const command = JSON.parse(String(data)) as Command
      const result = ANSWERS.get(command.method)
      if (isUnobserved && command.method === 'session.subscribe')
        command.params.events = command.params.events!.filter((name) => name !== 'network')
      const text = JSON.stringify(command)
      if (result) playwright.send(JSON.stringify({ type: 'success', id: command.id, result }))
      else if (session.readyState === WebSocket.OPEN) session.send(text)
      else early.push(text)
    })
    session.on('open', () => {
      for (const text of early) session.send(text)
    })
    session.on('message', (data) => playwright.send(String(data)))
    session.on('close', () => playwright.close())
    session.on('error', () => playwright.close())
    playwright.on('close', () => session.close())
  })
}
