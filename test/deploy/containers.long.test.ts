/** Runs the Dockerfile's image and the services of compose.yaml with podman and runc. */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { releaseImage } from '../../build/image.ts'
import { letOthersRead, newFolder } from '../support/folder.ts'
import { gif } from '../support/images/tiny-images.ts'
import { freePort, skipWithout } from '../support/processes/caches.ts'
import { ROOT, succeeds } from '../support/processes/process.ts'
import { isReady } from '../support/processes/server.ts'
import { until } from '../support/until.ts'
import { fetchRaw, post, remove, store } from '../support/upload.ts'
import { type ComposeProject, type ComposeService, readCompose } from './compose.ts'
import { type Engine, openEngine } from './engine.ts'
import { buildDebian, buildStandIn, loadPinhole, STAND_INS } from './images.ts'

/** A start takes a second; this allows for a heavily loaded machine. */
const TIMEOUT_MS = 120_000
const MAX_BYTES = 50e6
const { version: VERSION } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
/** The name used in compose.yaml. */
const IMAGE = `localhost/pinhole:${VERSION}`
const OPTIONS = [
  ...['--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
  ...['--volume', 'data:/data', '--env', 'BASE_URL=https://pics.example', '--publish', '127.0.0.1::3000'],
  ...['--network', 'single'],
]

/**
 * The servers of compose.yaml, and the last numbers of their addresses. Tests also reach them directly, not only through
 * nginx.
 */
const SERVERS = { server1: 11, server2: 12, server3: 13 }

// Containers access it from another account.
await letOthersRead(tmpdir())
const engine = await runningEngine()
const skip = typeof engine === 'string' ? engine : false
const { podman } = typeof engine === 'string' ? ({} as Engine) : engine
after(() => (typeof engine === 'string' ? undefined : engine.close()))
/** The released image and its SBOM for this platform. */
const released: string[] = []

// Separate tests, because the runner kills a file without progress.
describe('preparations', { skip }, () => {
  for (const name of Object.keys(STAND_INS) as (keyof typeof STAND_INS)[]) {
    it(`builds a stand-in for ${name}`, () => buildStandIn(engine as Engine, name))
  }

  it('builds the image as it is released, and loads it', async () => {
    released.push(...(await loadPinhole(engine as Engine)))
  })
})

describe('the image', { skip }, () => {
  let url = ''

  async function started(): Promise<void> {
    url = `http://${(await podman('port', 'one', '3000')).trim()}`
    await until('the server answers', () => isReady(url), TIMEOUT_MS)
  }

  it('is at most 50 MB, compressed, for each platform', async () => {
    const out = await newFolder()
    const other = await releaseImage('linux-arm64', out, (engine as Engine).buildah)
    for (const [archive = '', bom = ''] of [released, other.map((name) => join(out, name))]) {
      const { size } = await stat(archive)
      assert.ok(size <= MAX_BYTES, `${archive}: ${size} bytes`)
      const parts = JSON.parse(await readFile(bom, 'utf8')).components
      for (const part of ['node', 'libc6', 'hono']) {
        assert.ok(
          parts.some(({ name }: { name: string }) => name === part),
          part,
        )
      }
    }
    await rm(out, { recursive: true, force: true })
  })

  it('declares its user, volume and version, and has no shell', async () => {
    const [{ Config }] = JSON.parse(await podman('image', 'inspect', IMAGE))
    assert.equal(Config.User, '65532:65532')
    assert.deepEqual(Object.keys(Config.Volumes), ['/data'])
    assert.equal(Config.Labels['org.opencontainers.image.version'], VERSION)
    await assert.rejects(
      podman('run', '--rm', '--entrypoint', '/bin/sh', IMAGE, '-c', 'true'),
      /no such file/,
    )
  })

  it('serves without root, without capabilities, on a read-only root', async () => {
    await podman('run', '--detach', '--name', 'one', ...OPTIONS, IMAGE)
    await started()
    const pid = await podman('inspect', '--format', '{{.State.Pid}}', 'one')
    const status = await readFile(`/proc/${pid}/status`, 'utf8')
    assert.match(status, /^Uid:\s+65532\s/m)
    assert.match(status, /^CapBnd:\s+0+$/m)
    assert.match(await readFile(`/proc/${pid}/mounts`, 'utf8'), /^overlay \/ overlay ro,/m)
    const image = gif()
    const { id, key } = await store(url, image)
    assert.deepEqual((await fetchRaw(url, id)).body, image)
    assert.equal((await remove(url, key)).status, 200)
    assert.equal((await fetchRaw(url, id)).status, 404)
  })

  it('passes its own health check', async () => {
    await podman('healthcheck', 'run', 'one')
  })

  it('includes the operator’s commands', async () => {
    assert.match(
      await podman('exec', 'one', '/usr/bin/pinhole-server', 'operator', 'status'),
      /images|uploads/,
    )
  })

  it('shuts down gracefully, and still has its images after a restart', async () => {
    const { id } = await store(url, gif())
    // After this many seconds podman would kill it, and the exit code would be 137.
    await podman('stop', '--time', '60', 'one')
    assert.equal(await podman('inspect', '--format', '{{.State.ExitCode}}', 'one'), '0')
    await podman('start', 'one')
    await started()
    assert.equal((await fetchRaw(url, id)).status, 200)
    await podman('rm', '--force', '--time', '0', 'one')
  })
})

describe('one.yaml', { skip }, () => {
  it('starts a server that keeps its images in a volume', async () => {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const file = join(ROOT, 'deploy/docker/one.yaml')
    const { services, networkArgs } = await readCompose(file, 'alone', { PORT: `${port}` })
    await podman('network', 'create', ...networkArgs)
    const [{ args }, ...others] = services as [ComposeService, ...ComposeService[]]
    assert.equal(others.length, 0)
    await podman('run', '--detach', ...args)
    await until('the server answers', () => isReady(url), TIMEOUT_MS)
    const image = gif()
    const { id, key } = await store(url, image)
    await podman('rm', '--force', '--time', '60', 'alone-pinhole')
    await podman('run', '--detach', ...args)
    await until('the next container answers', () => isReady(url), TIMEOUT_MS)
    assert.deepEqual((await fetchRaw(url, id)).body, image)
    assert.equal((await remove(url, key)).status, 200)
    await podman('rm', '--force', '--time', '0', 'alone-pinhole')
  })
})

describe('compose.yaml', { skip }, () => {
  let project: ComposeProject
  let url = ''
  let servers: { name: string; address: string }[] = []

  it('starts nginx, three servers, a ledger and a store', async () => {
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    const variables = {
      PORT: `${port}`,
      BASE_URL: url,
      POSTGRES_PASSWORD: 'password1',
      AWS_ACCESS_KEY_ID: 'key1',
      AWS_SECRET_ACCESS_KEY: 'secret1',
    }
    const network = await onFreeNetwork(async (NETWORK) => {
      const file = join(ROOT, 'deploy/docker/compose.yaml')
      project = await readCompose(file, 'trial', { ...variables, NETWORK })
      await podman('network', 'create', ...project.networkArgs)
    })
    servers = Object.entries(SERVERS).map(([name, end]) => ({ name, address: `${network}.${end}` }))
    for (const { args, after } of project.services) {
      for (const { name, isHealthy } of after) {
        if (isHealthy) await until(`${name} is healthy`, () => isHealthyNow(name), TIMEOUT_MS)
      }
      await podman('run', '--detach', ...args)
    }
    // The servers exit and are restarted until ledger and store are up.
    for (const { address } of servers) {
      await until(`${address} is ready`, () => isReady(`http://${address}:3000`), TIMEOUT_MS)
    }
    await until('nginx reaches the servers', () => isReady(url), TIMEOUT_MS)
  })

  it('serves an upload from all servers, which share one quota', async () => {
    const image = gif()
    const answers = [await post(url, image), await post(url, image), await post(url, image)]
    const left = answers.map(({ headers }) => headers.get('X-RateLimit-Remaining'))
    assert.deepEqual(left, ['99', '98', '97'])
    const { id, key } = answers[0]!.json()
    for (const { address } of servers) {
      assert.deepEqual((await fetchRaw(`http://${address}:3000`, id)).body, image)
    }
    assert.equal((await remove(url, key)).status, 200)
    for (let n = 0; n < 6; n++) assert.equal((await fetchRaw(url, id)).status, 404)
  })

  it('keeps answering while the servers are restarted one after the other', async () => {
    const { id } = await store(url, gif())
    let isOver = false
    const statuses: number[] = []
    const asking = (async () => {
      while (!isOver) statuses.push((await fetchRaw(url, id)).status)
    })()
    for (const { name, address } of servers) {
      await podman('restart', '--time', '60', `trial-${name}`)
      await until(`${name} is ready`, () => isReady(`http://${address}:3000`), TIMEOUT_MS)
    }
    isOver = true
    await asking
    assert.deepEqual(new Set(statuses), new Set([200]))
  })
})

/** Calls `make` with random network prefixes until one does not conflict with a network of this machine. */
async function onFreeNetwork(make: (network: string) => Promise<void>): Promise<string> {
  for (let left = 20; ; left--) {
    const network = `10.${randomInt(16, 250)}.${randomInt(256)}`
    try {
      await make(network)
      return network
    } catch (error) {
      if (left === 0 || !/subnet .* already (used|in use)/s.test((error as Error).message)) throw error
    }
  }
}

/** The engine, or the reason why it cannot run. */
async function runningEngine(): Promise<Engine | string> {
  const missing = await skipWithout(['buildah', 'podman', 'runc', 'mmdebstrap'])
  if (missing) return missing
  if (process.getuid?.() !== 0) return 'does not apply: these tests run containers as root'
  const opened = await openEngine()
  try {
    await buildDebian(opened)
    // Checks the kernel and network rules first: a failure here is the machine's, not ours.
    await opened.podman('network', 'create', 'single')
    const options = ['--rm', '--network', 'single', '-p', '127.0.0.1::80']
    await opened.podman('run', ...options, 'localhost/debian', 'true')
    return opened
  } catch (error) {
    await opened.close()
    return `does not apply: this machine cannot run containers: ${(error as Error).message.replaceAll('\n', ' ')}`
  }
}

function isHealthyNow(name: string): Promise<boolean> {
  return succeeds(podman('healthcheck', 'run', `trial-${name}`))
}
