/** The operator's commands against a server elsewhere: the same routes on a Worker, by TLS, and on Node. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, rm, truncate } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { promisify } from 'node:util'
import { newFolder } from '../support/folder.ts'
import { request } from '../support/http.ts'
import { gif } from '../support/images/tiny-images.ts'
import { formOf } from '../support/multipart.ts'
import { freePort, skipWithout } from '../support/processes/caches.ts'
import { run } from '../support/processes/process.ts'
import { serverFor, startServer } from '../support/processes/server.ts'
import { report } from '../support/report.ts'
import { store } from '../support/upload.ts'
import { startWorker } from '../support/worker/worker-host.ts'

const TOKEN = 'a-token-of-more-than-24-characters'

interface Served {
  url: string
  door: string
  /** That a command needs in order to believe it. */
  trust: Record<string, string>
  stop(): Promise<unknown>
}

interface Host {
  skip: string | false
  start(): Promise<Served>
}

const HOSTS: Record<string, Host> = {
  Node: {
    skip: false,
    async start() {
      const door = `127.0.0.1:${await freePort()}`
      const server = await startServer({ OPERATOR_LISTEN: door, OPERATOR_TOKEN: TOKEN })
      return { url: server.url, door: `http://${door}`, trust: {}, stop: () => server.stop() }
    },
  },
  Workers: {
    skip: await skipWithout('openssl'),
    async start() {
      const folder = await newFolder()
      const { file, ...tls } = await selfSigned(folder)
      setDefaultCACertificates([...getCACertificates(), tls.certificate])
      const variables = { OPERATOR_URL: 'https://localhost:PORT', OPERATOR_TOKEN: TOKEN }
      const { url, stop } = await startWorker(variables, { tls })
      return {
        url,
        door: url.replace('127.0.0.1', 'localhost'),
        trust: { NODE_EXTRA_CA_CERTS: file },
        async stop() {
          await stop()
          await rm(folder, { recursive: true })
        },
      }
    },
  },
}

async function selfSigned(folder: string): Promise<{ file: string; key: string; certificate: string }> {
  const [key, file] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1']
  await promisify(execFile)('openssl', ['req', '-x509', ...kind, ...names, '-keyout', key, '-out', file])
  return { file, key: await readFile(key, 'utf8'), certificate: await readFile(file, 'utf8') }
}

for (const [name, { start, skip }] of Object.entries(HOSTS)) {
  describe(`the operator from elsewhere: ${name}`, { skip }, () => {
    let host: Served
    before(async () => {
      host = await start()
    })
    after(() => host?.stop())

    const operator = (words: string[], token = TOKEN) =>
      run(['src/node/operator.ts', '--server', host.door, ...words], { ...host.trust, OPERATOR_TOKEN: token })

    async function store(): Promise<{ id: string; status: () => Promise<number> }> {
      const { body, contentType } = formOf(gif())
      const headers = { 'Content-Type': contentType }
      const answer = await request(host.url, 'POST', '/api/upload', { headers, body })
      assert.equal(answer.status, 201, answer.text)
      const { id } = answer.json()
      return { id, status: async () => (await request(host.url, 'GET', `/raw/${id}`)).status }
    }

    it('holds, releases and removes', async () => {
      const { id, status } = await store()
      const held = await operator(['hold', id, '--reason', 'looked at'])
      assert.equal(held.code, 0, held.stderr)
      assert.equal(await status(), 403)
      assert.equal((await operator(['release', id, '--reason', 'fine'])).code, 0)
      assert.equal(await status(), 200)
      assert.equal((await operator(['remove', id, '--reason', 'not fine'])).code, 0)
      assert.equal(await status(), 410)
      const audit = await operator(['audit'])
      for (const act of ['hold', 'release', 'remove']) assert.ok(audit.stdout.includes(act), audit.stdout)
    })

    it('pauses uploads, and shows settings', async () => {
      assert.equal((await operator(['pause', '--reason', 'a test'])).code, 0)
      const { stdout } = await operator(['set'])
      assert.match(stdout, /^uploads paused$/m)
      assert.equal((await operator(['resume'])).code, 0)
      assert.equal((await operator(['set', 'uploads', 'maybe'])).code, 2)
    })

    it('shows the queue with what was reported', async () => {
      const { id } = await store()
      await report(host.url, id)
      const queue = await operator(['queue'])
      assert.ok(queue.stdout.includes(id), queue.stdout + queue.stderr)
    })

    it('opens its pages by a link that works once', async () => {
      const { stdout, stderr } = await operator(['login'])
      const path = stdout.trim().replace(host.door, '')
      assert.match(path, /^\/login\?token=/, stderr)
      assert.equal(
        (await request(host.door, 'GET', path, { headers: { Host: new URL(host.door).host } })).status,
        200,
      )
    })

    it('lets nobody in without the token, and is not on the public address', async () => {
      const refused = await operator(['audit'], 'another-token-of-24-characters')
      assert.equal(refused.code, 1)
      assert.match(refused.stderr, /does not know this OPERATOR_TOKEN/)
      const call = { headers: { Authorization: `Bearer ${TOKEN}` }, body: Buffer.from('{}') }
      assert.equal((await request(host.url, 'POST', '/calls', call)).status, 404)
    })

    it('asks nothing that is not in its table, and says what works on the data alone', async () => {
      const given = { on: 'ledger', call: 'close', given: [] }
      const answer = await request(host.door, 'POST', '/calls', {
        headers: { Host: new URL(host.door).host, Authorization: `Bearer ${TOKEN}` },
        body: Buffer.from(JSON.stringify(given)),
      })
      assert.equal(answer.status, 400)
      for (const words of [['verify'], ['evidence', 'list']]) {
        const onData = await operator(words)
        assert.equal(onData.code, 1, words.join(' '))
        assert.match(onData.stderr, /not with --server/)
      }
    })
  })
}

it('goes past a damaged image, and shows it as one', async (t) => {
  const door = `127.0.0.1:${await freePort()}`
  const server = await serverFor(t, { OPERATOR_LISTEN: door, OPERATOR_TOKEN: TOKEN })
  const [damaged, sound] = [await store(server.url), await store(server.url)]
  await truncate(join(server.dataDir, 'images/objects', damaged.id), 20)
  const operator = (...words: string[]) =>
    run(['src/node/operator.ts', '--server', `http://${door}`, ...words], { OPERATOR_TOKEN: TOKEN })
  const found = await operator('find', '--type', 'gif')
  assert.equal(found.code, 0, found.stderr)
  assert.deepEqual(found.stdout.match(/^\w{11}/gm), [sound.id])
  assert.match((await operator('show', damaged.id)).stdout, /^damaged$/m)
})

it('sends the token to nobody who could be another one', { skip: HOSTS.Workers!.skip }, async () => {
  const elsewhere = await HOSTS.Workers!.start()
  let asked = 0
  const inTheClear = createServer((_, answer) => {
    asked++
    answer.end('{"value":[]}')
  })
  await new Promise<void>((resolve) => inTheClear.listen(0, '0.0.0.0', resolve))
  const { port } = inTheClear.address() as { port: number }
  const ask = (server: string) =>
    run(['src/node/operator.ts', '--server', server, 'audit'], { OPERATOR_TOKEN: TOKEN })
  try {
    // Not one of the names of this machine alone, and yet it gets there.
    for (const server of [`http://0.0.0.0:${port}`, 'http://ops.pinhole.example', 'ops.pinhole.example']) {
      const { code, stderr } = await ask(server)
      assert.deepEqual([code, stderr], [1, '--server must begin with https://\n'], server)
    }
    assert.equal(asked, 0)
    assert.equal((await ask(`http://127.0.0.1:${port}`)).code, 0, 'it does listen')
    assert.equal(asked, 1)
    // A certificate that nobody vouches for.
    const { code, stderr } = await ask(elsewhere.door)
    assert.equal(code, 1)
    assert.match(stderr, /self-signed certificate/)
  } finally {
    inTheClear.close()
    await elsewhere.stop()
  }
})
