import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import net from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { ConfigError, parseConfig } from '../src/config.ts'
import { folderOf } from './support/folder.ts'
import { request } from './support/http.ts'
import { listen } from './support/listen.ts'
import { type Env, type Ran, ROOT, run } from './support/processes/process.ts'
import { type RunningServer, serverEnv, serverFor, startServer } from './support/processes/server.ts'

const WRONG: Env = {
  PORT: '65536',
  BASE_URL: 'https://pics.example/path',
  OBJECTS_URL: 'ftp://bucket',
  LEDGER_URL: 'mysql://somebody:hunter2@db/pinhole',
  PREVIEW_TEMPLATE: 'https://{url}.example/',
  CDN_URL: 'gopher://somebody:hunter3@cache',
  TRUSTED_PROXIES: '127.0.0.1/32,300.0.0.1/8',
  UPLOADS_PER_DAY: '-1',
  MAX_UPLOAD_BYTES: '25MB',
  STRIP_METADATA: 'yes',
  DEFAULT_EXPIRES: '2d',
  MAX_AGE_DAYS: '0',
  UPLOADS: 'off',
  ALLOWED_ORIGINS: 'friend.example',
  HOT_SET_BYTES: '1e9',
  WORKERS: '0',
  LOG_LEVEL: 'loud',
}
const VARIABLES = [...Object.keys(WRONG), 'HOST', 'DATA_DIR', 'TERMS_FILE', 'AWS_REGION']

const folder = await folderOf({ after })

const isLinux = process.platform === 'linux'

describe('configuration', { concurrency: 4 }, () => {
  const help = run(['bin/serve.mjs', '--help'])
  const start = (env: Env) => run(['bin/serve.mjs'], serverEnv(env, join(folder, 'data')))

  it('lists all mistakes together, without passwords', async () => {
    const ran = await start(WRONG)
    checkFailed(ran)
    for (const name of Object.keys(WRONG)) assert.match(ran.stderr, new RegExp(`\\b${name}\\b`), name)
    assert.doesNotMatch(ran.stderr + ran.stdout, /hunter/)
    const lines = ran.stderr.trim().split('\n')
    assert.equal(
      lines.filter((line) => /^\s*[A-Z_]+\b/.test(line)).length,
      Object.keys(WRONG).length,
      ran.stderr,
    )
  })

  const wrong: Env[] = [
    { PORT: 'http' },
    { OBJECTS_URL: 'file:///srv/images' },
    { LEDGER_URL: 'sqlite:/srv/ledger.sqlite' },
    { TOMBSTONES_URL: 'file:second' },
    { TOMBSTONES_URL: '/mnt/other' },
    { TOMBSTONES_URL: 'https://bucket/prefix' },
    { PORT: '-1' },
    { PORT: '3000.5' },
    { BASE_URL: 'pics.example' },
    { BASE_URL: 'ftp://pics.example' },
    { BASE_URL: 'https://pics.example/?x' },
    { BASE_URL: 'https://somebody@pics.example' },
    { TRUSTED_PROXIES: '10.0.0.0/33' },
    { TRUSTED_PROXIES: 'fd00::/129' },
    { TRUSTED_PROXIES: 'fd00::1::2/64' },
    { TRUSTED_PROXIES: ':/8' },
    { TRUSTED_PROXIES: 'loopback' },
    { UPLOADS_PER_DAY: '0' },
    { UPLOADS_PER_DAY: '1e3' },
    { MAX_UPLOAD_BYTES: '0' },
    { MAX_UPLOAD_BYTES: 'Infinity' },
    { ALLOWED_ORIGINS: 'https://friend.example/path' },
    { ALLOWED_ORIGINS: '*' },
    { WORKERS: '1.5' },
    { OPERATOR_LISTEN: '127.0.0.1:0' },
    { OPERATOR_LISTEN: '::1:3001' },
    { SCANNER_URL: 'https://me:50%@scanner.example' },
    { PREVIEW_TEMPLATE: 'https://img.example/plain/' },
    { PREVIEW_TEMPLATE: 'https://img.example/{url}/{url}' },
    { PREVIEW_TEMPLATE: 'https://img.example{url}' },
    { PREVIEW_TEMPLATE: 'https://somebody@img.example/{url}' },
    { PREVIEW_TEMPLATE: 'https://img.example/#{url}' },
    { PREVIEW_TEMPLATE: 'https://img.example/a b/{url}' },
    { PREVIEW_TEMPLATE: 'javascript:{url}' },
    { PREVIEW_TEMPLATE: '/insecure/plain/{url}' },
  ]
  for (const env of wrong) {
    const [[name, value]] = Object.entries(env) as [[string, string]]
    it(`refuses ${name}=${value}`, () => {
      assert.throws(
        () => parseConfig(env),
        (error: ConfigError) => {
          assert.ok(error instanceof ConfigError)
          assert.equal(error.mistakes.length, 1)
          assert.match(error.mistakes[0]!, new RegExp(`^${name}\\b.* (must|no|is) `))
          return true
        },
      )
    })
  }

  const unusable: Env[] = [
    { TERMS_FILE: '/nowhere/terms.txt' },
    { DATA_DIR: '/dev/null/data' },
    { HOST: '203.0.113.1' },
    { HOST: '203.0.113.1', WORKERS: '2' },
  ]
  for (const env of unusable) {
    const [[name, value]] = Object.entries(env) as [[string, string]]
    it(`does not start with ${Object.entries(env).map((pair) => pair.join('='))}`, async () => {
      const ran = await start(env)
      checkFailed(ran)
      assert.match(ran.stderr, new RegExp(name === 'HOST' ? value : name))
    })
  }

  it('does not start on a port that is in use', async () => {
    const other = net.createServer()
    try {
      const port = String(await listen(other))
      const ran = await start({ PORT: port })
      checkFailed(ran)
      assert.match(ran.stderr, new RegExp(port))
    } finally {
      other.close()
    }
  })

  it('prints the table of variables for --help without starting', async () => {
    const ran = await help
    assert.equal(ran.code, 0)
    for (const name of VARIABLES) assert.match(ran.stdout, new RegExp(`^\\s+${name} .*\\w`, 'm'), name)
    for (const fallback of ['3000', '26214400', '100', './data'])
      assert.ok(ran.stdout.includes(fallback), fallback)
    assert.equal(ran.stderr, '')
  })

  it('documents the same variables and defaults in docs/operating.md', async () => {
    const { stdout } = await help
    const page = await readFile(join(ROOT, 'docs/operating.md'), 'utf8')
    const rows = [...page.matchAll(/^\| `([A-Z][A-Z_]+)` \| (?:`([^`]*)`)? *\|/gm)]
    const printed = [...stdout.matchAll(/^ {2}([A-Z][A-Z_]+) .*?(?:\[([^\]]*)\])?$/gm)]
    const entry = ([, name, fallback = '']: RegExpExecArray) => [name, name === 'BASE_URL' ? '' : fallback]
    assert.deepEqual(rows.map(entry).sort(), printed.map(entry).sort())
  })

  describe('without any variable', () => {
    let server: RunningServer
    before(async () => {
      server = await startServer()
    })
    after(() => server?.stop())

    it('prints its address and data folder, and no noise', async () => {
      await request(server.url, 'GET', '/')
      const lines = server.stdout().trim().split('\n')
      assert.ok(lines.length <= 5, server.stdout())
      assert.ok(server.stdout().includes(server.baseUrl))
      assert.ok(server.stdout().includes(server.dataDir))
      assert.doesNotMatch(server.stdout(), /BASE_URL/)
      assert.doesNotMatch(server.stderr(), /warning|deprecat|experimental/i)
    })

    it('runs with the launcher’s flags and thread pool size', {
      skip: !isLinux && 'needs /proc',
    }, async () => {
      const command = await readFile(`/proc/${server.pid}/cmdline`, 'utf8')
      assert.match(command, /--max-semi-space-size=8\0.*src\/node\.ts/s)
      await request(server.url, 'GET', '/readyz')
      const threads = await readdir(`/proc/${server.pid}/task`)
      const names = await Promise.all(
        threads.map((thread) => readFile(`/proc/${server.pid}/task/${thread}/comm`, 'utf8')),
      )
      assert.equal(names.filter((name) => name.startsWith('libuv-worker')).length, 8)
    })
  })

  it('treats an empty variable as unset', async (t) => {
    const { PORT, DATA_DIR, ...others } = Object.fromEntries(VARIABLES.map((name) => [name, '']))
    const server = await serverFor(t, others)
    assert.equal((await request(server.url, 'GET', '/readyz')).status, 200)
  })

  it('warns that all visitors share one quota if BASE_URL is https and no proxy is trusted', async (t) => {
    const server = await serverFor(t, { BASE_URL: 'https://pics.example', TRUSTED_PROXIES: '' })
    assert.match(server.stdout(), /share one quota: set TRUSTED_PROXIES/)
    await server.restart({ TRUSTED_PROXIES: '192.0.2.1' })
    assert.doesNotMatch(server.stdout(), /TRUSTED_PROXIES/)
  })

  describe('reachable from other machines, with terms', () => {
    let server: RunningServer
    before(async () => {
      const file = join(folder, 'terms.txt')
      await writeFile(file, 'No pictures of <b>Mondays</b>.')
      server = await startServer({
        HOST: '0.0.0.0',
        TERMS_FILE: file,
        OPERATOR_NAME: 'Ada <b>',
        OPERATOR_CONTACT: 'ada@pinhole.example',
      })
    })
    after(() => server?.stop())

    it('warns that links only work locally', () => {
      assert.match(server.stdout(), /Links begin with http:\/\/localhost:\d+: set BASE_URL/)
    })

    it('shows the operator’s own terms', async () => {
      const page = await request(server.url, 'GET', '/terms')
      assert.equal(page.status, 200)
      assert.match(page.text, /No pictures of &lt;b&gt;Mondays/)
      assert.match(page.text, /Ada &lt;b&gt; runs this service[\s\S]*href="mailto:ada@pinhole\.example"/)
    })
  })
})

function checkFailed(ran: Ran): void {
  assert.ok(ran.code !== null && ran.code !== 0, `ended with ${ran.code ?? ran.signal}`)
  assert.notEqual(ran.stderr.trim(), '')
  assert.doesNotMatch(ran.stderr, /\n {4}at /, 'no stack trace for a configuration mistake')
  assert.doesNotMatch(ran.stdout, /http:\/\//, 'no address is printed')
}
