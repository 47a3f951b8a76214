import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { SMTPServer } from 'smtp-server'
import { RemoteFailure } from '../../src/errors.ts'
import { openNotifiers } from '../../src/node/open/notifiers.ts'
import { ntfy } from '../../src/notify/ntfy.ts'
import { smtp } from '../../src/notify/smtp.ts'
import { webhook } from '../../src/notify/webhook.ts'
import { notifierContract, type Received, type Receiver } from '../contracts/notifier.ts'
import { listen } from '../support/listen.ts'
import { type Asked, startFakeProvider } from '../support/processes/fake-provider.ts'
import { until } from '../support/until.ts'

const SECRET = Buffer.from('hunter2 hunter2 hunter2 hunter2')
const FRAGMENT = `#whsec_${SECRET.toString('base64')}`
const NOW = Date.UTC(2030, 0, 1, 12)

const NOTICE = {
  id: 'a',
  kind: 'disk.high',
  isUrgent: false,
  at: 0,
  title: 'a',
  text: 'a',
  link: null,
} as const

/** An HTTP receiver. `read` parses a request. */
async function httpReceiver(read: (asked: Asked) => Received): Promise<Receiver> {
  const provider = await startFakeProvider()
  const received: Received[] = []
  let mood = 'willing'
  provider.answer((asked) => {
    if (mood === 'refusing') return { status: 403 }
    if (mood === 'broken') return { status: 502, body: '<html>' }
    received.push(read(asked))
    return { status: 204 }
  })
  return {
    host: provider.host,
    received,
    be(next) {
      mood = next
    },
    stop: () => provider.stop(),
  }
}

notifierContract(
  'webhook',
  () =>
    httpReceiver(({ target, headers, body }) => {
      assert.equal(target, '/hook/hunter2?a=1', 'the signing secret is not sent')
      const [id, timestamp] = [headers['webhook-id'], headers['webhook-timestamp']]
      assert.equal(timestamp, `${NOW / 1000}`)
      const mac = createHmac('sha256', SECRET).update(`${id}.${timestamp}.${body}`).digest('base64')
      assert.equal(headers['webhook-signature'], `v1,${mac}`)
      const { type, timestamp: at, data } = JSON.parse(body)
      assert.equal(type, 'case.new')
      assert.equal(at, '2030-01-01T00:00:00.000Z')
      const { urgent, ...rest } = data
      return { id: String(id), isUrgent: urgent, ...rest }
    }),
  (host) => webhook(new URL(`http://${host}/hook/hunter2?a=1${FRAGMENT}`), () => NOW),
)

notifierContract(
  'ntfy',
  () =>
    httpReceiver(({ method, target, headers, body }) => {
      assert.equal(`${method} ${target}`, 'POST /')
      assert.equal(headers.authorization, 'Bearer hunter2')
      const { topic, title, message, priority, click = null } = JSON.parse(body)
      assert.equal(topic, 'pinhole-ops')
      return { id: null, title, text: message, link: click, isUrgent: priority === 5 }
    }),
  (host) => ntfy(new URL(`ntfy://:hunter2@${host}/pinhole-ops?tls=off`)),
)

notifierContract('smtp', mailServer, (host) =>
  smtp(new URL(`smtp://pinhole:hunter2@${host}?from=pinhole@pics.example&to=me+pinhole@ops.example&tls=off`)),
)

async function mailServer(): Promise<Receiver> {
  const received: Received[] = []
  let mood = 'willing'
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth({ username, password }, _session, callback) {
      if (username === 'pinhole' && password === 'hunter2') callback(null, { user: 'pinhole' })
      else callback(new Error('who?'))
    },
    onRcptTo({ address }, _session, callback) {
      assert.equal(address, 'me+pinhole@ops.example')
      if (mood !== 'broken') callback(mood === 'refusing' ? new Error('no room') : null)
      else for (const connection of server.connections) connection.close()
    },
    onData(stream, _session, callback) {
      stream.toArray().then((chunks) => {
        received.push(readMail(Buffer.concat(chunks).toString()))
        callback()
      }, callback)
    },
  })
  return {
    host: `127.0.0.1:${await listen(server.server)}`,
    received,
    be(next) {
      mood = next
    },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

test('closes the connection to a mail server that does not respond in time', async (t) => {
  const timeout = new AbortController()
  t.mock.method(AbortSignal, 'timeout', () => timeout.signal)
  const server = new SMTPServer({ authOptional: true, onMailFrom: () => timeout.abort() })
  const port = await listen(server.server)
  t.after(() => new Promise<void>((resolve) => server.close(resolve)))
  const notifier = smtp(new URL(`smtp://127.0.0.1:${port}?from=a@b.example&to=c@d.example&tls=off`))
  await assert.rejects(notifier.deliver(NOTICE), ({ cause }: Error) => (cause as Error).name === 'AbortError')
  await until('the connection is closed', () => server.connections.size === 0)
})

for (const scheme of ['smtp', 'smtps']) {
  test(`${scheme}:// sends no password without TLS`, async (t) => {
    const server = await mailServer()
    t.after(() => server.stop())
    const addresses = 'from=pinhole@pics.example&to=me+pinhole@ops.example'
    const notifier = smtp(new URL(`${scheme}://pinhole:hunter2@${server.host}?${addresses}`))
    await assert.rejects(notifier.deliver(NOTICE), RemoteFailure)
    assert.deepEqual(server.received, [])
  })
}

/** Parses the subset of RFC 5322, 2047 and 2045 that nodemailer writes. */
function readMail(mail: string): Received {
  const end = mail.indexOf('\r\n\r\n')
  const head = mail.slice(0, end).replace(/\r\n[ \t]/g, ' ')
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1]?.trim()
  assert.equal(header('Auto-Submitted'), 'auto-generated')
  const encoding = header('Content-Transfer-Encoding')
  const raw = mail.slice(end + 4)
  const body =
    encoding === 'base64'
      ? Buffer.from(raw, 'base64').toString()
      : encoding === 'quoted-printable'
        ? Buffer.from(
            raw
              .replace(/=\r\n/g, '')
              .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
            'latin1',
          ).toString()
        : raw
  const text = body.replaceAll('\r\n', '\n').trim()
  return {
    id: header('Message-ID') ?? null,
    title: (header('Subject') ?? '').replace(
      /=\?UTF-8\?([QB])\?(.*?)\?=\s*/gi,
      (_, kind: string, word: string) =>
        kind.toUpperCase() === 'B'
          ? Buffer.from(word, 'base64').toString()
          : decodeURIComponent(word.replaceAll('_', ' ').replaceAll('=', '%')),
    ),
    text,
    link: /^https?:\S+$/m.exec(text)?.[0] ?? null,
    isUrgent: header('X-Priority')?.startsWith('1') ?? false,
  }
}

test('honours Retry-After of a receiver, up to an hour, and does not follow redirects', async (t) => {
  const provider = await startFakeProvider()
  t.after(() => provider.stop())
  const deliver = () => webhook(new URL(`http://${provider.host}/${FRAGMENT}`)).deliver(NOTICE)
  const failsWith = async (status: number, headers: Record<string, string>) => {
    provider.answer({ status, headers })
    const error = await deliver().catch((reason: unknown) => reason)
    assert.ok(error instanceof RemoteFailure)
    return error.retryAfterMs
  }
  assert.equal(await failsWith(429, { 'Retry-After': '7' }), 7000)
  assert.equal(await failsWith(503, { 'Retry-After': '999999' }), 3_600_000)
  assert.equal(await failsWith(500, {}), undefined)
  provider.asked.length = 0
  assert.equal(await failsWith(307, { Location: `http://${provider.host}/elsewhere` }), undefined)
  assert.equal(provider.asked.length, 1)
})

test('gives up on a receiver that does not respond, and reads no response body', async (t) => {
  let isCancelled = false
  t.mock.method(globalThis, 'fetch', async (_url: string, { signal }: RequestInit) => {
    assert.ok(signal, 'the delivery has a timeout')
    const cancel = () => {
      isCancelled = true
    }
    return new Response(new ReadableStream({ cancel }))
  })
  await ntfy(new URL('ntfy://ntfy.example/ops')).deliver(NOTICE)
  assert.ok(isCancelled)
})

test('parses each address in NOTIFY, and explains mistakes without revealing secrets', async () => {
  const right = [
    `https://ops.example/hook${FRAGMENT}`,
    'ntfy://ntfy.sh/pinhole-ops',
    'smtps://me:hunter2@mail.example?from=a@b.example&to=c@d.example',
  ]
  const opened = await openNotifiers(right)
  assert.deepEqual(
    opened.map(({ name }) => name),
    ['https://ops.example', 'ntfy://ntfy.sh', 'smtps://mail.example'],
  )
  const wrong = [
    'https://ops.example/hook',
    'https://ops.example/hook#whsec_aHVudGVy',
    'https://ops.example/hook#whsec_hunter%',
    'ntfy://:hunter%@ntfy.sh/pinhole-ops',
    'smtp://me:hunter2%@mail.example?from=a@b.example&to=c@d.example',
    'http://ops.example/hook#hunter',
    'ntfy://hunter@ntfy.sh/',
    'ntfy://ntfy.sh/a/hunter',
    'smtp://me:hunter2@mail.example',
    'smtp://me:hunter2@mail.example?from=a@b.example&to=a@b.example,c@d.example',
    'smtp://me:hunter2@mail.example?from=a@b.example%0D%0ABcc:x@y.example&to=c@d.example',
    'hunter',
  ]
  for (const address of wrong) {
    await assert.rejects(openNotifiers([address]), ({ message }: Error) => {
      assert.match(message, /^NOTIFY: /)
      assert.doesNotMatch(message, /hunter|aHVudGVy/)
      return true
    })
  }
})
