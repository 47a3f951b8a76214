/** The operator's commands against a remote server: on Node, and on Workers over TLS. */

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
import { freePort, skipWithout } from '../support/processes/caches.ts'
import { run } from '../support/processes/process.ts'
import { serverFor, startServer } from '../support/processes/server.ts'
import { report } from '../support/report.ts'
import { fetchRaw, store } from '../support/upload.ts'
import { startWorker } from '../support/worker/worker-host.ts'

const TOKEN = 'a-token-of-more-than-24-characters'

interface Served {
  url: string
  operatorUrl: string
  /** Environment that makes a command trust its certificate. */
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
      const address = `127.0.0.1:${await freePort()}`
      const server = await startServer({ OPERATOR_LISTEN: address, OPERATOR_TOKEN: TOKEN })
      return { url: server.url, operatorUrl: `http://${address}`, trust: {}, stop: () => server.stop() }
    },
  },
  Workers: {
    skip: await skipWithout('openssl'),
    async start() {
      const folder = await newFolder()
      const { file, ...tls } = await selfSigned(folder)
      setDefaultCACertificates([...getCACertificates(), tls.certificate])
      const variables = { OPERATOR_URL: 'https://localhost:PORT', OPERATOR_TOKEN: TOKEN }
      const { url, operatorUrl, stop } = await startWorker(variables, { tls })
      return {
        url,
        operatorUrl,
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
  describe(`remote operator commands: ${name}`, { skip }, () => {
    let host: Served
    before(async () => {
      host = await start()
    })
    after(() => host?.stop())

    const operator = (words: string[], token = TOKEN) =>
      run(['src/node/operator.ts', '--server', host.operatorUrl, ...words], {
        ...host.trust,
        OPERATOR_TOKEN: token,
      })

    it('holds, releases and removes', async () => {
      const { id } = await store(host.url)
      const status = async () => (await fetchRaw(host.url, id)).status
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

    it('pauses uploads and shows settings', async () => {
      assert.equal((await operator(['pause', '--reason', 'a test'])).code, 0)
      const { stdout } = await operator(['set'])
      assert.match(stdout, /^uploads paused$/m)
      assert.equal((await operator(['resume'])).code, 0)
      assert.equal((await operator(['set', 'uploads', 'maybe'])).code, 2)
    })

    it('shows reported images in the queue', async () => {
      const { id } = await store(host.url)
      await report(host.url, id)
      const queue = await operator(['queue'])
      assert.ok(queue.stdout.includes(id), queue.stdout + queue.stderr)
    })

    it('prints a login link for the admin server', async () => {
      const { stdout, stderr } = await operator(['login'])
      const path = stdout.trim().replace(host.operatorUrl, '')
      assert.match(path, /^\/login\?token=/, stderr)
      assert.equal(
        (await request(host.operatorUrl, 'GET', path, { headers: { Host: new URL(host.operatorUrl).host } }))
          .status,
        200,
      )
    })

    it('requires the token, and is not reachable on the public URL', async () => {
      const refused = await operator(['audit'], 'another-token-of-24-characters')
      assert.equal(refused.code, 1)
      assert.match(refused.stderr, /does not know this OPERATOR_TOKEN/)
      const call = { headers: { Authorization: `Bearer ${TOKEN}` }, body: Buffer.from('{}') }
      assert.equal((await request(host.url, 'POST', '/calls', call)).status, 404)
    })

    it('refuses unlisted calls, and commands that need direct access to the data', async () => {
      // Whoever has the token for a while could make a session that never ends.
      for (const call of ['close', 'putToken']) {
        const answer = await request(host.operatorUrl, 'POST', '/calls', {
          headers: { Host: new URL(host.operatorUrl).host, Authorization: `Bearer ${TOKEN}` },
          body: Buffer.from(JSON.stringify({ on: 'ledger', call, given: [] })),
        })
        assert.equal(answer.json().mistake, `ledger.${call} cannot be called remotely.`)
      }
      for (const words of [['verify'], ['evidence', 'list']]) {
        const local = await operator(words)
        assert.equal(local.code, 1, words.join(' '))
        assert.match(local.stderr, /not with --server/)
      }
    })
  })
}

it('skips a damaged image in find and shows it as damaged', async (t) => {
  const address = `127.0.0.1:${await freePort()}`
  const server = await serverFor(t, { OPERATOR_LISTEN: address, OPERATOR_TOKEN: TOKEN })
  const [damaged, intact] = [await store(server.url), await store(server.url)]
  await truncate(join(server.dataDir, 'images/objects', damaged.id), 20)
  const operator = (...words: string[]) =>
    run(['src/node/operator.ts', '--server', `http://${address}`, ...words], { OPERATOR_TOKEN: TOKEN })
  const found = await operator('find', '--type', 'gif')
  assert.equal(found.code, 0, found.stderr)
  assert.deepEqual(found.stdout.match(/^\w{11}/gm), [intact.id])
  assert.match((await operator('show', damaged.id)).stdout, /^damaged$/m)
})

it('never sends the token over plain HTTP or to an untrusted certificate', {
  skip: HOSTS.Workers!.skip,
}, async () => {
  const untrusted = await HOSTS.Workers!.start()
  let requests = 0
  const plainServer = createServer((_, answer) => {
    requests++
    answer.end('{"value":[]}')
  })
  await new Promise<void>((resolve) => plainServer.listen(0, '0.0.0.0', resolve))
  const { port } = plainServer.address() as { port: number }
  const auditOn = (server: string) =>
    run(['src/node/operator.ts', '--server', server, 'audit'], { OPERATOR_TOKEN: TOKEN })
  try {
    // 0.0.0.0 reaches this machine but is not a loopback name.
    for (const server of [`http://0.0.0.0:${port}`, 'http://ops.pinhole.example', 'ops.pinhole.example']) {
      const { code, stderr } = await auditOn(server)
      assert.deepEqual([code, stderr], [1, '--server must begin with https://\n'], server)
    }
    assert.equal(requests, 0)
    assert.equal((await auditOn(`http://127.0.0.1:${port}`)).code, 0, 'the server is listening')
    assert.equal(requests, 1)
    // A self-signed certificate that is not trusted.
    const { code, stderr } = await auditOn(untrusted.operatorUrl)
    assert.equal(code, 1)
    assert.match(stderr, /self-signed certificate/)
  } finally {
    plainServer.close()
    await untrusted.stop()
  }
})
