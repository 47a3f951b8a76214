/** Contract of pull scanning: scanners claim pending images from the admin server. The same for every host. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { request } from '../support/http.ts'
import { previewed } from '../support/images/previewed.ts'
import { gif } from '../support/images/tiny-images.ts'
import { until } from '../support/until.ts'
import { fetchRaw, post, remove, store as storeOn } from '../support/upload.ts'

export interface PulledHost {
  url: string
  /** The admin server's address. */
  door: string
  /** Triggers the interval jobs, on hosts where they don't run automatically. */
  round?(): Promise<void>
  stop(): Promise<unknown>
}

export type StartPulled = (env: Record<string, string>) => Promise<PulledHost>

interface Task {
  id: string
  claim: number
  type: string
  size: number
  sha256: string
  bytes: string
  preview: { bytes: string; size: number } | null
}

const OPERATOR_TOKEN = 'a-token-of-more-than-24-characters'
const SCANNER_TOKEN = 'a-scanner-of-more-than-24-characters'

export function pullScanSuite(name: string, start: StartPulled): void {
  const env = { SCAN: 'before', OPERATOR_TOKEN, SCANNER_TOKEN, UPLOADS_PER_DAY: '1000' }

  function callsOf(host: PulledHost) {
    const ask = (method: string, path: string, body?: object, token: string | null = SCANNER_TOKEN) =>
      request(host.door, method, path, {
        headers: {
          Host: new URL(host.door).host,
          ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
        },
        ...(body && { body: Buffer.from(JSON.stringify(body)) }),
      })
    return {
      ask,
      upload: (bytes: Buffer, headers = {}) => post(host.url, bytes, undefined, { headers }),
      raw: (id: string) => fetchRaw(host.url, id),
      async claimed(limit = 64): Promise<Task[]> {
        const answer = await ask('POST', '/scans/claim', { limit })
        assert.equal(answer.status, 200, answer.text)
        return answer.json().scans
      },
      /** Claims until the task of this image comes up. Other tasks get the verdict `clean`. */
      async taskOf(id: string): Promise<Task> {
        let task: Task | undefined
        await until('the image can be claimed', async () => {
          for (const each of await this.claimed()) {
            if (each.id === id) task = each
            else await this.say(each, 'clean')
          }
          return task !== undefined
        })
        return task!
      },
      say: ({ id, claim }: Task, verdict: string, more: object = {}) =>
        ask('POST', `/scans/${id}`, { claim, verdict, ...more }),
    }
  }

  describe(`pull scanning: ${name}`, () => {
    let host: PulledHost
    let calls: ReturnType<typeof callsOf>
    before(async () => {
      host = await start(env)
      calls = callsOf(host)
    })
    after(() => host?.stop())

    const store = (bytes = gif()) => storeOn(host.url, bytes)

    it('shows an image only to the scanner until its verdict is clean', async () => {
      const { id, bytes } = await store()
      const pending = await calls.raw(id)
      assert.deepEqual([pending.status, pending.json().error], [403, 'held'])
      assert.match(pending.json().detail, /checked before it is shown/)
      assert.equal((await request(host.url, 'GET', `/${id}`)).status, 403)
      const task = await calls.taskOf(id)
      assert.deepEqual([task.type, task.size, task.preview], ['image/gif', bytes.length, null])
      const seen = await calls.ask('GET', task.bytes)
      assert.ok(seen.body.equals(bytes))
      assert.equal(seen.headers.get('Cache-Control'), 'no-store')
      assert.deepEqual((await calls.say(task, 'clean')).json(), { done: true })
      assert.ok((await calls.raw(id)).body.equals(bytes))
      assert.equal((await calls.say(task, 'block')).status, 409, 'a second verdict')
      assert.equal((await calls.ask('GET', task.bytes)).status, 409)
      assert.equal((await calls.raw(id)).status, 200)
    })

    it('serves the preview to the scanner as well', async () => {
      const { file, preview } = await previewed()
      const { id } = await store(file)
      const task = await calls.taskOf(id)
      assert.equal(task.preview?.size, preview.length)
      assert.ok((await calls.ask('GET', task.preview.bytes)).body.equals(preview))
      await calls.say(task, 'clean')
    })

    it('removes and blocks images with a severe verdict, and lists the removals for scanners', async () => {
      const { id, bytes } = await store()
      const labels = [{ name: 'known\u0007hash', score: 1 }]
      await calls.say(await calls.taskOf(id), 'block', { category: 'child-abuse', labels })
      assert.equal((await calls.raw(id)).status, 410)
      const again = await calls.upload(bytes)
      assert.deepEqual([again.status, again.json().error], [403, 'blocked-image'])
      const { removals, until } = (await calls.ask('GET', '/scans/removals')).json()
      const { at } = removals[0]
      assert.deepEqual(removals, [{ id, category: 'child-abuse', at }])
      const later = await calls.ask('GET', `/scans/removals?since=${until}`)
      assert.deepEqual(later.json(), { removals: until === at ? removals : [], until })
      assert.equal((await calls.ask('GET', '/scans/removals?since=soon')).status, 400)
      const given = { on: 'ledger', call: 'caseOf', given: [id] }
      const { value } = (await calls.ask('POST', '/calls', given, OPERATOR_TOKEN)).json()
      assert.deepEqual([value.state, value.category], ['removed', 'child-abuse'], 'raises a notice')
      const acts = (await calls.ask('GET', '/acts', undefined, OPERATOR_TOKEN)).json()
      const act = acts.find(({ subject }: { subject: string }) => subject === id)
      assert.deepEqual(
        [act.act, act.who, act.reason, act.rule],
        ['remove', 'scanner', 'knownhash 1', 'child-abuse'],
      )
    })

    for (const verdict of ['hold', 'block'])
      it(`holds an image for review after the verdict ${verdict} without a severe category`, async () => {
        const { id } = await store()
        await calls.say(await calls.taskOf(id), verdict, { category: 'violence' })
        assert.equal((await calls.raw(id)).status, 403)
        const given = { on: 'ledger', call: 'caseOf', given: [id] }
        const { value } = (await calls.ask('POST', '/calls', given, OPERATOR_TOKEN)).json()
        assert.deepEqual([value.state, value.category], ['held', 'violence'])
        const release = { on: 'takedown', call: 'release', given: [id, 'fine', { who: 'me' }] }
        assert.equal((await calls.ask('POST', '/calls', release, OPERATOR_TOKEN)).json().value, true)
        assert.equal((await calls.raw(id)).status, 200)
      })

    it('publishes a flagged image and opens a case', async () => {
      const { id } = await store()
      await calls.say(await calls.taskOf(id), 'flag', { category: 'nonsense' })
      assert.equal((await calls.raw(id)).status, 200)
      const given = { on: 'ledger', call: 'caseOf', given: [id] }
      const { value } = (await calls.ask('POST', '/calls', given, OPERATOR_TOKEN)).json()
      assert.deepEqual([value.state, value.category], ['open', 'other'])
    })

    it('lets uploader and operator act on a pending image', async () => {
      const [deleted, bad, fine] = [await store(), await store(), await store()]
      assert.equal((await remove(host.url, deleted.key)).status, 200)
      assert.equal((await calls.raw(deleted.id)).status, 404)
      const act = (call: string, ...given: unknown[]) =>
        calls.ask('POST', '/calls', { on: 'takedown', call, given }, OPERATOR_TOKEN)
      await act('remove', bad.id, 'bad', { block: false })
      await act('release', fine.id, 'seen', { who: 'me' })
      assert.equal((await calls.raw(bad.id)).status, 410)
      assert.equal((await calls.raw(fine.id)).status, 200)
      for (const task of await calls.claimed()) {
        assert.ok(![deleted.id, bad.id].includes(task.id), 'a removed image has no task')
        await calls.say(task, 'clean')
      }
      assert.equal((await calls.raw(bad.id)).status, 410)
    })

    it('answers a retried upload while the image is pending', async () => {
      const bytes = gif()
      const headers = { 'Idempotency-Key': 'a-name-of-this-picture-alone' }
      const first = await calls.upload(bytes, headers)
      const again = await calls.upload(bytes, headers)
      assert.deepEqual([again.status, again.json()], [201, first.json()])
      const { id } = first.json()
      assert.equal((await calls.raw(id)).status, 403)
      await calls.say(await calls.taskOf(id), 'clean')
      assert.equal((await calls.raw(id)).status, 200)
    })

    it('gives a task to one scanner, and accepts a verdict only with its claim', async () => {
      const { id } = await store()
      const task = await calls.taskOf(id)
      assert.ok(!(await calls.claimed()).some((other) => other.id === id))
      assert.equal((await calls.say({ ...task, claim: task.claim + 1 }, 'block')).status, 409)
      assert.equal((await calls.say({ ...task, id: 'AAAAAAAAAAA' }, 'block')).status, 409)
      for (const wrong of ['', 'sure', 'constructor', 1, null, {}])
        assert.equal((await calls.say(task, wrong as string)).status, 400)
      assert.equal((await calls.raw(id)).status, 403)
      await calls.say(task, 'clean')
    })

    it('accepts the scanner’s token only for scanning, and requires a token', async () => {
      const { id } = await store()
      const others: [string, string, object?][] = [
        ['GET', '/acts'],
        ['GET', '/queue'],
        ['GET', `/images/${id}/bytes`],
        ['POST', '/calls', { on: 'ledger', call: 'counts', given: [] }],
      ]
      for (const [method, path, given] of others) {
        assert.equal((await calls.ask(method, path, given)).status, 401, path)
      }
      assert.equal((await calls.ask('GET', `/scans/${id}/bytes?claim=0`)).status, 409)
      for (const token of [null, 'wrong-token-of-24-characters-or-more']) {
        assert.equal((await calls.ask('POST', '/scans/claim', { limit: 1 }, token)).status, 401)
        assert.equal((await calls.ask('GET', '/scans/removals', undefined, token)).status, 401)
      }
      assert.equal((await request(host.url, 'POST', '/scans/claim')).status, 404, 'on the public address')
      for (const limit of [0, -1, 1.5, 65, '8', null]) {
        assert.equal((await calls.ask('POST', '/scans/claim', { limit })).status, 400)
      }
      const token = await calls.ask('POST', '/scans/claim', { limit: 64 }, OPERATOR_TOKEN)
      assert.equal(token.status, 200)
    })
  })

  for (const [fault, status] of [
    ['publish', 200],
    ['refuse', 404],
  ] as const) {
    it(`times out an image that no scanner handles, with SCAN_FAULT=${fault}: ${name}`, async (t) => {
      const host = await start({ ...env, SCAN_FAULT: fault, SCAN_SECONDS: '1' })
      t.after(() => host.stop())
      const { upload, raw, claimed } = callsOf(host)
      const { id } = (await upload(gif())).json()
      // A scanner that claims the task but never responds.
      await claimed()
      await until('the image has timed out', async () => {
        await host.round?.()
        return (await raw(id)).status === status
      })
    })
  }
}
