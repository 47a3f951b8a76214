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

/** Runs an origin that is up and then down, and requests every target in both states. */
async function withOrigin(
  startFront: (originPort: number) => Promise<{ url: string; log: () => Promise<string> }>,
) {
  const origin = createServer((incoming, outgoing) => {
    incoming.resume()
    outgoing.end('x')
  })
  const { url, log } = await startFront(await listen(origin)).catch(async (error) => {
    await end(origin)
    throw error
  })
  const requestAll = async (last: string) => {
    for (const [method, target] of TARGETS) await request(url, method, target)
    await request(url, 'GET', `/seen-${last}`)
  }
  await requestAll('up')
  await end(origin)
  await requestAll('down')
  return log
}

function checkLog(text: string): void {
  for (const secret of [SECRET, SECRET.slice(0, 20), KEY, KEY.slice(11)]) {
    assert.ok(!text.includes(secret), `the log contains ${secret}:\n${text}`)
  }
}

test('nginx as shipped', { skip: await skipWithout('nginx') }, async () => {
  let stop = async () => {}
  const log = await withOrigin(async (originPort) => {
    const front = await startNginxFront(await freePort(), [originPort], ['10.0.0.0/8'])
    stop = front.stop
    const parts = ['access.log', 'error.log'].map((name) => join(front.folder, name))
    const read = async () => (await Promise.all(parts.map((part) => readFile(part, 'utf8')))).join('\n')
    return { url: front.url, log: read }
  })
  try {
    await until('the log is complete', async () => (await log()).includes('/seen-down'))
    checkLog(await log())
  } finally {
    await stop()
  }
})

test('nginx as shipped for compose.yaml', { skip: await skipWithout('nginx') }, async () => {
  let stop = async () => {}
  const log = await withOrigin(async (originPort) => {
    const folder = await newFolder()
    const port = await freePort()
    const site = replaced(await readFile(join(ROOT, 'deploy/docker/nginx.conf'), 'utf8'), [
      [/listen 80 default_server;/, `listen 127.0.0.1:${port} default_server;`],
      [
        /server server1:3000( [^;]*);\s+server server2:3000\1;\s+server server3:3000\1;/,
        `server 127.0.0.1:${originPort}$1;`,
      ],
      [/\/dev\/stdout/, join(folder, 'access.log')],
      [/\/dev\/stderr/, join(folder, 'error.log')],
    ])
    const nginx = await runNginx({ port, folder, site })
    stop = nginx.stop
    return { url: nginx.url, log: () => readFile(join(folder, 'access.log'), 'utf8') }
  })
  try {
    await until('the log is complete', async () => (await log()).includes('/seen-down'))
    checkLog(await log())
  } finally {
    await stop()
  }
})

test('Caddy as shipped', { skip: await skipWithout('caddy') }, async () => {
  let text = ''
  let stop = async () => {}
  await withOrigin(async (originPort) => {
    const caddy = await startCaddy(originPort, (piece) => {
      text += piece
    })
    stop = caddy.stop
    return { url: caddy.url, log: async () => text }
  }).finally(() => stop())
  assert.ok(text.length > 0, 'the log is not empty')
  checkLog(text)
})
