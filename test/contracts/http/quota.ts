/** The quota of 100 stored images per day and client address, and how that address is determined. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type Answer, request } from '../../support/http.ts'
import { gif } from '../../support/images/tiny-images.ts'
import { formOf, multipart } from '../../support/multipart.ts'
import { converse } from '../../support/socket.ts'
import { until } from '../../support/until.ts'
import {
  freshAddress,
  idempotentUploads,
  uploadHead,
  type Visitor,
  visit,
  visitsTo,
  type World,
} from './host.ts'
import { checkPage, checkProblem } from './rules.ts'

const remainingOf = (answer: Answer) => Number(answer.headers.get('X-RateLimit-Remaining'))

export function quotaCases(world: World): void {
  const onMain = visitsTo(world, world.main)

  onMain('accepts 100 uploads, then returns 429 with Retry-After', async (me) => {
    for (let n = 1; n <= 100; n++) {
      const answer = await me.upload(gif())
      assert.equal(answer.status, 201, `upload ${n}: ${answer.text}`)
      assert.equal(answer.headers.get('X-RateLimit-Limit'), '100')
      assert.equal(remainingOf(answer), 100 - n)
    }
    for (let n = 101; n <= 103; n++) {
      const answer = await me.upload(gif())
      checkProblem(answer, 429, 'quota-exceeded')
      assert.equal(remainingOf(answer), 0)
      const left = secondsToMidnight()
      const retryAfter = Number(answer.headers.get('Retry-After'))
      assert.ok(
        retryAfter >= Math.floor(left) && retryAfter <= left + 5,
        `${retryAfter} for ${left} s to midnight`,
      )
    }
    checkPage(await me.upload(gif(), { Accept: 'text/html' }), 429)
    const neighbour = await visit(world, world.main)
    assert.equal(remainingOf(await neighbour.upload(gif())), 99)
  })

  onMain('queues 150 concurrent uploads, stores exactly 100 and returns 429 for the rest', async (me) => {
    const answers = await Promise.all(Array.from({ length: 150 }, () => me.upload(gif())))
    const stored = answers.filter(({ status }) => status === 201)
    assert.equal(stored.length, 100)
    for (const answer of answers) if (answer.status !== 201) checkProblem(answer, 429, 'quota-exceeded')
    const ids = new Set(stored.map((answer) => answer.json().id))
    assert.equal(ids.size, 100)
    for (const id of ids) {
      // A busy store may not respond in time.
      await until('the image is available', async () => (await me.get(`/raw/${id}`)).status === 200)
    }
    const remains = stored.map(remainingOf)
    assert.equal(Math.min(...remains), 0)
    assert.ok(remains.every((left) => left >= 0 && left <= 99))
    assert.equal(await me.remaining(), 0)
  })

  onMain('counts only stored images', async (me) => {
    const file = { name: 'file', body: gif() }
    const refused = [
      me.upload(Buffer.from('no image')),
      me.upload(gif().subarray(0, 30)),
      me.upload(gif(), { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }),
      me.post(multipart([])),
      me.post(multipart([file, file])),
      me.post({ body: Buffer.from('x'), contentType: 'multipart/form-data; boundary=b' }),
      me.request('GET', '/api/upload'),
      me.request('PUT', '/api/upload'),
    ]
    for (const answer of await Promise.all(refused)) assert.ok(answer.status >= 400, answer.text)
    assert.equal(await me.remaining(), 100)
    assert.equal(remainingOf(await me.upload(gif())), 99)
    // An upload holds a reservation only while its body is read.
    const bad = await me.upload(Buffer.from('no image'))
    assert.equal(remainingOf(bad), 99)
  })

  onMain('does not restore quota when an image is deleted', async (me) => {
    const { key } = await me.store()
    assert.equal((await me.remove(key)).status, 200)
    assert.equal(await me.remaining(), 99)
  })

  onMain('releases the reservation when the client disconnects midway', async (me, t) => {
    if (!me.host.clientHeader) return t.skip('does not apply: this host identifies clients by their socket')
    const { body, contentType } = formOf(gif({ size: 400_000 }))
    const talk = await converse(me.host.url)
    await talk.write(uploadHead(me, `Content-Type: ${contentType}\r\nContent-Length: ${body.length}\r\n`))
    await talk.write(body.subarray(0, 300_000))
    await until('the upload holds a reservation', async () => (await me.remaining()) === 99)
    talk.close()
    await until('the reservation is released', async () => (await me.remaining()) === 100)
  })

  it('counts IPv6 addresses by /64, and IPv4-mapped ones as IPv4', async (t) => {
    const { host } = await visit(world, world.main)
    if (!host.clientHeader) return t.skip('does not apply: this host identifies clients by their socket')
    const as = (address: string) => visit(world, world.main, address)
    const first = await as('2001:db8:1:2::1')
    await first.store()
    for (const same of ['2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:0DB8:0001:0002:0:0:0:9']) {
      assert.equal(await (await as(same)).remaining(), 99, same)
    }
    for (const other of ['2001:db8:1:3::1', '2001:db8:2:2::1']) {
      assert.equal(await (await as(other)).remaining(), 100, other)
    }
    await (await as('203.0.113.7')).store()
    for (const same of ['::ffff:203.0.113.7', '::FFFF:cb00:7107']) {
      assert.equal(await (await as(same)).remaining(), 99, same)
    }
    for (const other of ['203.0.113.8', '::ffff:203.0.113.8']) {
      assert.equal(await (await as(other)).remaining(), 100, other)
    }
  })

  onMain('uses the last untrusted hop as the client address', async (me, t) => {
    if (me.host.clientHeader !== 'X-Forwarded-For')
      return t.skip('does not apply: this host ignores X-Forwarded-For')
    await me.store()
    const real = me.address
    const chains: (string | string[])[] = [
      `203.0.113.99, ${real}`,
      `203.0.113.99,${real},10.0.0.5`,
      `  203.0.113.99 ,  ${real} , 10.0.0.5,10.255.0.1 `,
      `${real}, 2001:db8:ffff::7`,
      `unknown, ${real}`,
      [`203.0.113.99`, real],
      [`203.0.113.99, ${real}`, '10.0.0.5'],
    ]
    for (const chain of chains) {
      assert.equal(await remainingBehind(me, { 'X-Forwarded-For': chain }), 99, String(chain))
    }
    // A trusted address left of the client's was forged by the client.
    assert.equal(await remainingBehind(me, { 'X-Forwarded-For': `10.0.0.5, ${real}` }), 99)
    assert.equal(await remainingBehind(me, { 'X-Forwarded-For': `${real}, ${freshAddress()}` }), 100)
    // A hop that is no address was reported by a proxy, and those left of it by the client. Such requests count for the proxy.
    for (let count = 0; count < 10; count++) await me.store()
    assert.ok((await remainingBehind(me, { 'X-Forwarded-For': `${real}, unknown` })) > 89)
  })

  onMain('ignores all other client address headers', async (me, t) => {
    if (me.host.clientHeader !== 'X-Forwarded-For')
      return t.skip('does not apply: this host ignores X-Forwarded-For')
    await me.store()
    for (const header of [
      'X-Real-IP',
      'True-Client-IP',
      'CF-Connecting-IP',
      'X-Client-IP',
      'Fly-Client-IP',
    ]) {
      const left = await remainingBehind(me, { 'X-Forwarded-For': me.address, [header]: '203.0.113.50' })
      assert.equal(left, 99, header)
    }
    const forwarded = { 'X-Forwarded-For': me.address, Forwarded: 'for=203.0.113.50' }
    assert.equal(await remainingBehind(me, forwarded), 99)
  })

  onMain('survives garbage in X-Forwarded-For', async (me) => {
    const garbage = ['', ', ,', 'x'.repeat(5000), `${'1.1.1.1,'.repeat(1000)}1.1.1.1`]
    garbage.push(...', 999.1.1.1 :::: 1.2.3.4:80 [::1]:80 _hidden fe80::1%eth0 0x7f.1 127.1'.split(' '))
    for (const value of garbage) {
      const answer = await me.request('POST', '/api/upload', { headers: { 'X-Forwarded-For': value } })
      checkProblem(answer, 415, 'not-multipart')
    }
  })

  it('ignores forwarding headers of untrusted peers', async (t) => {
    const host = await world.bare()
    if (!host.direct) return t.skip('does not apply: there is a proxy in front of this host')
    const post = async () => {
      const { body, contentType } = formOf(gif())
      const spoofed = freshAddress()
      const headers = {
        'Content-Type': contentType,
        'X-Forwarded-For': spoofed,
        'X-Real-IP': spoofed,
        'CF-Connecting-IP': spoofed,
        Forwarded: `for=${spoofed}`,
      }
      return request(host.url, 'POST', '/api/upload', { headers, body })
    }
    // Other cases may have used this address before.
    const answers = [await post()]
    while (answers.at(-1)!.status === 201) answers.push(await post())
    assert.ok(answers.length <= 4, `${answers.length - 1} uploads of 3`)
    checkProblem(answers.at(-1)!, 429, 'quota-exceeded')
    assert.equal(answers[0]!.headers.get('X-RateLimit-Limit'), '3')
  })
}

/** Limits of networks and of the whole server, in addition to the quota of an address. */
export function serverLimitCases(world: World): void {
  const { newIdempotencyKey, send } = idempotentUploads(world)

  it('limits uploads per network and in total, reports which limit was reached, and answers retries', async () => {
    const [idempotencyKey, bytes] = [newIdempotencyKey(), gif()]
    const retryFrom = async (address: string) =>
      send(await visit(world, world.capped, address), bytes, idempotencyKey)
    const uploadFrom = async (address: string) => (await visit(world, world.capped, address)).upload(gif())
    const stored = await retryFrom('203.0.112.1')
    assert.equal(stored.status, 201)
    for (const [first, second, third] of [
      ['203.0.113.1', '203.0.113.2', '203.0.113.3'],
      ['2001:db8:5:1::1', '2001:db8:5:2::1', '2001:db8:5:3::1'],
    ] as const) {
      const [one, two] = await Promise.all([uploadFrom(first), uploadFrom(second)])
      assert.deepEqual([one.status, two.status], [201, 201])
      const network = await uploadFrom(third)
      checkProblem(network, 429, 'network-quota-exceeded')
      assert.equal(remainingOf(network), 100, 'the address has used nothing')
      assert.ok(Number(network.headers.get('Retry-After')) >= 1)
      assert.equal((await retryFrom(third)).text, stored.text)
    }
    assert.equal((await uploadFrom('203.0.109.1')).status, 201)
    const all = await uploadFrom('203.0.111.1')
    checkProblem(all, 503, 'capacity-reached')
    assert.equal(remainingOf(all), 100)
    assert.ok(Math.abs(all.json().retryAfter - secondsToMidnight()) < 60)
    const me = await visit(world, world.capped, '203.0.110.1')
    checkPage(await me.upload(gif(), { Accept: 'text/html' }), 503)
    assert.equal((await retryFrom('203.0.110.1')).text, stored.text)
  })
}

async function remainingBehind(me: Visitor, headers: Record<string, string | string[]>): Promise<number> {
  return remainingOf(await request(me.host.url, 'POST', '/api/upload', { headers }))
}

function secondsToMidnight(): number {
  const now = Date.now()
  return (86_400_000 - (now % 86_400_000)) / 1000
}
