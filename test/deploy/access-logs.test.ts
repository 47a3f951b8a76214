/** What stands in front writes down no deletion key and no secret of a receipt, whether servers answer or not. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { newFolder } from '../support/folder.ts'
import { request } from '../support/http.ts'
import { end, listen } from '../support/listen.ts'
import { freePort, replaced, runNginx, skipWithout, startNginxFront } from '../support/processes/caches.ts'
import { ROOT } from '../support/processes/process.ts'
import { until } from '../support/until.ts'

const SECRET = '0123456789abcdef'.repeat(4)
const KEY = `abcdefghijk${'K'.repeat(32)}`
/** As they are sent, mistyped, and escaped. */
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

/** A server that is there first and then is not. `asks` each target both times. */
async function withOrigin(
  asks: (originPort: number) => Promise<{ url: string; log: () => Promise<string> }>,
) {
  const origin = createServer((incoming, outgoing) => {
    incoming.resume()
    outgoing.end('x')
  })
  const { url, log } = await asks(await listen(origin)).catch(async (error) => {
    await end(origin)
    throw error
  })
  const askAll = async (last: string) => {
    for (const [method, target] of TARGETS) await request(url, method, target)
    await request(url, 'GET', `/seen-${last}`)
  }
  await askAll('up')
  await end(origin)
  await askAll('down')
  return log
}

function checkLog(text: string): void {
  for (const secret of [SECRET, SECRET.slice(0, 20), KEY, KEY.slice(11)]) {
    assert.ok(!text.includes(secret), `${secret} is in the log:\n${text}`)
  }
}

test('nginx, as shipped', { skip: await skipWithout('nginx') }, async () => {
  let stop = async () => {}
  const log = await withOrigin(async (originPort) => {
    const front = await startNginxFront(await freePort(), [originPort], ['10.0.0.0/8'])
    stop = front.stop
    const parts = ['access.log', 'error.log'].map((name) => join(front.folder, name))
    const read = async () => (await Promise.all(parts.map((part) => readFile(part, 'utf8')))).join('\n')
    return { url: front.url, log: read }
  })
  try {
    await until('all is written', async () => (await log()).includes('/seen-down'))
    checkLog(await log())
  } finally {
    await stop()
  }
})

test('nginx, as shipped for compose.yaml', { skip: await skipWithout('nginx') }, async () => {
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
    await until('all is written', async () => (await log()).includes('/seen-down'))
    checkLog(await log())
  } finally {
    await stop()
  }
})

test('Caddy, as shipped', { skip: await skipWithout('caddy') }, async () => {
  const folder = await newFolder()
  const port = await freePort()
  let text = ''
  let child: ReturnType<typeof spawn> | undefined
  try {
    const log = await withOrigin(async (originPort) => {
      const site = replaced(await readFile(join(ROOT, 'deploy/caddy/Caddyfile'), 'utf8'), [
        [/^\{$/m, '{\n\tadmin off'],
        [/^pics\.example \{$/m, `http://127.0.0.1:${port} {`],
        [/127\.0\.0\.1:3000/, `127.0.0.1:${originPort}`],
        [/lb_try_duration 5s/, 'lb_try_duration 50ms'],
      ])
      await writeFile(join(folder, 'Caddyfile'), site)
      const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
      const words = ['run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')]
      child = spawn('caddy', words, { env, stdio: ['ignore', 'pipe', 'pipe'] })
      for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (piece) => (text += piece))
      const url = `http://127.0.0.1:${port}`
      await until('Caddy listens', () =>
        request(url, 'GET', '/').then(
          () => true,
          () => false,
        ),
      )
      return { url, log: async () => text }
    })
    const ended = new Promise((resolve) => child!.once('exit', resolve))
    child!.kill()
    await ended
    assert.ok((await log()).length > 0, 'it logs at all')
    checkLog(await log())
  } finally {
    child?.kill()
    await rm(folder, { recursive: true, force: true })
  }
})
