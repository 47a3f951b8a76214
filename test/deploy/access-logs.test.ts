/** Reverse proxies log no deletion key and no receipt secret, whether the servers behind them respond or not. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { newFolder } from '../support/folder.ts'
import { request } from '../support/http.ts'
import { end, listen } from '../support/listen.ts'
import {
  freePort,
  replaced,
  runNginx,
  skipWithout,
  startCaddy,
  startNginxFront,
} from '../support/processes/caches.ts'
import { ROOT } from '../support/processes/process.ts'
import { until } from '../support/until.ts'

const SECRET = '0123456789abcdef'.repeat(4)
const KEY = `abcdefghijk${'K'.repeat(32)}`
const CLIENT = '198.51.102.9'
/** As sent correctly, mistyped, and escaped. */
const TARGETS: [method: string, target: string][] = [
  ['GET', `/receipt/${SECRET}`],
  ['GET', `/%72eceipt/${SECRET}`],
  ['GET', `//Receipt/x/../${SECRET}`],
  ['HEAD', `/receipt/${SECRET.slice(0, 20)}`],
  ['GET', `/api/delete?key=${KEY}`],
  ['DELETE', `/api/delete?key=${KEY}`],
  ['GET', `/api/delete%3Fkey=${KEY}`],
  ['GET', `/${KEY}`],
]

interface Front {
  url: string
  /** The text of all its logs, once `/seen-down` has been requested. */
  log(): Promise<string>
  stop(): Promise<void>
}

/** The logs of a proxy that got every target while its origin was up, and again while it was down. */
async function logsOf(startFront: (originPort: number) => Promise<Front>): Promise<string> {
  const origin = createServer((incoming, outgoing) => {
    incoming.resume()
    outgoing.end('x')
  })
  const { url, log, stop } = await startFront(await listen(origin)).catch(async (error) => {
    await end(origin)
    throw error
  })
  const requestAll = async (last: string) => {
    const headers = { 'X-Forwarded-For': CLIENT }
    for (const [method, target] of TARGETS) await request(url, method, target, { headers })
    await request(url, 'GET', `/seen-${last}`, { headers })
  }
  try {
    await requestAll('up')
    await end(origin)
    await requestAll('down')
    return await log()
  } finally {
    await stop()
  }
}

/** Both logs of nginx, whose files are in `folder`. */
async function textOf(folder: string): Promise<string> {
  const read = (name: string) => readFile(join(folder, name), 'utf8')
  await until('the log is complete', async () => (await read('access.log')).includes('/seen-down'))
  return `${await read('access.log')}\n${await read('error.log')}`
}

function checkLog(text: string): void {
  for (const secret of [SECRET, SECRET.slice(0, 20), KEY, KEY.slice(11)]) {
    assert.ok(!text.includes(secret), `the log contains ${secret}:\n${text}`)
  }
}

/** Connecting to it fails with an error that nginx considers critical. */
const UNREACHABLE = 'unix:/nowhere'

test('nginx as shipped, which logs no addresses either', { skip: await skipWithout('nginx') }, async () => {
  const text = await logsOf(async (originPort) => {
    const front = await startNginxFront(await freePort(), [originPort, UNREACHABLE], ['127.0.0.1/32'])
    return { ...front, log: () => textOf(front.folder) }
  })
  checkLog(text)
  assert.match(text, / DELETE \/api\/delete 200 /)
  assert.doesNotMatch(text, /198\.51\.102|127\.0\.0\.1|\?/)
})

test('nginx as shipped for compose.yaml', { skip: await skipWithout('nginx') }, async () => {
  const text = await logsOf(async (originPort) => {
    const folder = await newFolder()
    const port = await freePort()
    const site = replaced(await readFile(join(ROOT, 'deploy/docker/nginx.conf'), 'utf8'), [
      [/listen 80 default_server;/, `listen 127.0.0.1:${port} default_server;`],
      [
        /server server1:3000( [^;]*);\s+server server2:3000\1;\s+server server3:3000\1;/,
        `server 127.0.0.1:${originPort}$1; server ${UNREACHABLE}$1;`,
      ],
      [/\/dev\/stdout/, join(folder, 'access.log')],
      [/\/dev\/stderr/, join(folder, 'error.log')],
    ])
    const nginx = await runNginx({ port, folder, site })
    return { ...nginx, log: () => textOf(folder) }
  })
  checkLog(text)
})

test('Caddy as shipped', { skip: await skipWithout('caddy') }, async () => {
  const text = await logsOf(async (originPort) => {
    let text = ''
    const caddy = await startCaddy(originPort, (piece) => {
      text += piece
    })
    return { ...caddy, log: () => caddy.stop().then(() => text) }
  })
  assert.ok(text.length > 0, 'the log is not empty')
  checkLog(text)
})
