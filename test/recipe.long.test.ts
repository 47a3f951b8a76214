/**
 * Follows docs/five-dollars.md step by step on two minimal Debian systems with the package, one after the other, against
 * Ceph's gateway where available. The steps for apt, systemd, cron and the proxy are simulated.
 */
import assert from 'node:assert/strict'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { releaseDebian } from '../build/debian.ts'
import { type BareRoot, makeBareRoot, whyNoBareRoot } from './packaging/bare-root.ts'
import { installPackage, SETTINGS, startUnit, type Unit } from './packaging/debian-unit.ts'
import { letOthersRead, newFolder } from './support/folder.ts'
import { gif } from './support/images/tiny-images.ts'
import { freePort } from './support/processes/caches.ts'
import { type S3Backend, startS3 } from './support/processes/cluster.ts'
import { ROOT } from './support/processes/process.ts'
import { plainRequests } from './support/s3/under-test.ts'
import { until } from './support/until.ts'
import { fetchRaw, post, remove, type Stored, store } from './support/upload.ts'

/** Commands of the page that a test machine cannot run. */
const SKIPPED = /^(?:apt-get install caddy|cp Caddyfile |journalctl )/

const skip = await whyNoBareRoot()

describe('a small machine and a bucket', { skip }, () => {
  let s3: S3Backend
  let folder: string
  let debian: string
  const machines: BareRoot[] = []
  before(async () => {
    await letOthersRead(tmpdir())
    folder = await newFolder()
    const [[name = ''], started] = await Promise.all([
      releaseDebian('linux-x64', folder),
      startS3({ ceph: true }),
    ])
    debian = join(folder, name)
    s3 = started
  })
  after(async () => {
    await Promise.all(machines.map((machine) => machine.remove()))
    await s3?.stop()
    if (folder) await rm(folder, { recursive: true, force: true })
  })

  /** The code blocks of a section, with the test's bucket in place of R2's. */
  async function blocksOf(heading: string): Promise<string[]> {
    const { endpoint, bucket, accessKeyId, secretAccessKey, region = 'us-east-1' } = s3.service
    const page = (await readFile(join(ROOT, 'docs/five-dollars.md'), 'utf8'))
      .replaceAll('s3://pinhole/', `s3://${bucket}/`)
      .replaceAll('https://ACCOUNT.r2.cloudflarestorage.com', endpoint)
      .replaceAll('region=auto', `region=${region}&style=path`)
      .replace('=KEY\n', `=${accessKeyId}\n`)
      .replace('=SECRET\n', `=${secretAccessKey}\n`)
    const [, section = ''] = page.split(`\n## ${heading}\n`)
    return [...section.replace(/\n## [\s\S]*/, '').matchAll(/```\w*\n([\s\S]*?)```/g)].map(
      ([, code]) => code!,
    )
  }

  /** A machine set up as on the page, with a root shell. `systemctl` controls the server. */
  async function machine() {
    const bare = await makeBareRoot()
    machines.push(bare)
    const port = await freePort()
    let unit: Unit | undefined
    async function type(line: string): Promise<void> {
      const [, verb] = /^systemctl (start|restart|stop) pinhole$/.exec(line) ?? []
      if (line.startsWith('apt-get install ./pinhole-server')) {
        await installPackage(bare, debian)
        // With systemd, dpkg would start it.
        unit = await startUnit(bare, port)
      } else if (verb !== undefined) {
        await unit?.stop()
        unit = verb === 'stop' ? undefined : await startUnit(bare, port)
      } else if (!SKIPPED.test(line)) await bare.asRoot('/bin/sh', '-c', line)
    }
    return {
      url: `http://127.0.0.1:${port}`,
      async follow(block: string) {
        for (const line of block.trim().split('\n')) await type(line.replace(/\s+#.*/, ''))
      },
      configure: (settings: string) => writeFile(join(bare.folder, SETTINGS), settings),
      async lose() {
        await unit?.kill()
        unit = undefined
      },
      /** What cron would mail to root. */
      async mail(line: string) {
        const { stdout, stderr } = await bare.asRoot('/bin/sh', '-c', line)
        return stdout + stderr
      },
      data: () => readdir(join(bare.folder, 'var/lib/pinhole')),
      stop: () => unit?.stop(),
    }
  }

  test('after the first machine is lost, the second one has everything that was acknowledged', async () => {
    const [install = '', settings = '', start = ''] = await blocksOf('The machine')
    assert.match(settings, /^DATA_DIR=\/var\/lib\/pinhole\n/)
    const [cron = ''] = await blocksOf('Every hour')
    const [, everyHour = ''] = /^17 \* \* \* \* root (.+)$/m.exec(cron) ?? []
    const [restore = ''] = await blocksOf('The machine is lost')
    assert.match(restore, /^pinhole-operator restore /m)

    const first = await machine()
    await first.follow(install)
    await first.configure(settings)
    await first.follow(start)
    const images = [1, 2, 3, 4, 5].map((size) => gif({ size: 100 + size }))
    const [kept, deletedBefore, deletedAfter, removed] = (await Promise.all(
      images.slice(0, 4).map((image) => store(first.url, image)),
    )) as [Stored, Stored, Stored, Stored]
    assert.equal((await remove(first.url, deletedBefore.key)).status, 200)
    await first.follow(`pinhole-operator remove ${removed.id} --reason 'a trial' --block`)
    assert.equal(await first.mail(everyHour), '')
    assert.match(await first.mail(everyHour.replace('s3://', 'nowhere://')), /nowhere/)

    // Between the last backup and the loss.
    const late = await store(first.url, images[4]!)
    assert.equal((await remove(first.url, deletedAfter.key)).status, 200)
    const lostAt = Date.now()
    const plain = plainRequests(s3.service)
    // The watermark advances every 20 s.
    await until('the second location has the deletion, and a later watermark', async () => {
      const keys = await plain.list('second/')
      const texts = await Promise.all(keys.map(async (key) => `${(await plain.get(key)).bytes}`))
      const followed = texts[keys.findIndex((key) => key.endsWith('followed.json'))] ?? '{"until":0}'
      return (
        texts.some((text) => text.includes(deletedAfter.id)) &&
        Date.parse(JSON.parse(followed).until) > lostAt
      )
    })
    await first.lose()

    const next = await machine()
    await next.follow(install)
    assert.ok((await next.data()).includes('ledger.sqlite'), 'the page tells to empty the folder')
    await next.configure(settings)
    await next.follow(restore)
    assert.deepEqual((await fetchRaw(next.url, kept.id)).body, images[0])
    assert.deepEqual((await fetchRaw(next.url, late.id)).body, images[4])
    assert.equal((await fetchRaw(next.url, deletedBefore.id)).status, 404)
    assert.equal((await fetchRaw(next.url, deletedAfter.id)).status, 404)
    assert.equal((await fetchRaw(next.url, removed.id)).status, 410)
    assert.equal((await post(next.url, images[3]!)).status, 403)
    for (const { key } of [kept, late]) assert.equal((await remove(next.url, key)).status, 200)
    await next.stop()
  })
})
