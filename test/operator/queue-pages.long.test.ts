/** The admin server's queue without scripts: what it shows, what it fetches, and its decisions. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { openSqliteLedger } from '../../src/stores/sqlite/ledger.ts'
import { adminSession } from '../support/admin-session.ts'
import { atAdmin } from '../support/at-admin.ts'
import { request } from '../support/http.ts'
import { previewed } from '../support/images/previewed.ts'
import { gif } from '../support/images/tiny-images.ts'
import { jsonLines } from '../support/processes/process.ts'
import { startServer } from '../support/processes/server.ts'
import { report } from '../support/report.ts'
import { until } from '../support/until.ts'
import { fetchRaw, post, remove, store } from '../support/upload.ts'

const TOKEN = 'a-token-of-programs-0123456789'

const server = await startServer({ WORKERS: '2', OPERATOR_TOKEN: TOKEN })
after(() => server.stop())
const session = await adminSession(server)
let addresses = 0
const newAddress = () => `203.0.113.${++addresses}`

const statusOf = async (id: string) => (await fetchRaw(server.url, id)).status
const stateOf = async (receipt: string) => (await request(server.url, 'GET', receipt)).json().state
const decide = (id: string, act: string, more: Record<string, string> = {}) =>
  session.post(`/cases/${id}`, { act, reason: 'as reported', rule: 'malware', ...more })

/** Undo batches by image ID. */
async function undoable(): Promise<Map<string, string>> {
  const { text } = await session.get('/queue')
  const found = text.matchAll(/name="batch" value="([^"]+)">\s*<p role="status">[^<]*<code>(\w+)<\/code>/g)
  return new Map([...found].map(([, batch, id]) => [id!, batch!]))
}

it('lists open cases by severity and due time, groups identical images, and links to the first', async () => {
  const same = gif({ size: 900 })
  const [first, second, urgent] = [
    await store(server.url, same),
    await store(server.url, same),
    await store(server.url),
  ]
  await report(server.url, first.id, { category: 'other' }, newAddress())
  await report(server.url, second.id, { category: 'malware' }, newAddress())
  await report(server.url, urgent.id, { category: 'child-abuse' }, newAddress())
  const gone = await store(server.url)
  await report(server.url, gone.id, { category: 'child-abuse' }, newAddress())
  assert.equal((await remove(server.url, gone.key)).status, 200)
  const { text } = await session.get('/queue')
  const links = [...text.matchAll(/href="\/cases\/(\w{11})"/g)].map(([, id]) => id)
  assert.deepEqual(links, [urgent.id, second.id, gone.id], 'deleted images come last')
  assert.match(text, /2 reports, due in \d+ h, 2 images of the same bytes/)
  assert.ok(text.includes(`not here <code>${gone.id}`))
  assert.equal(text.split('class="urgent"').length, 2)
  assert.doesNotMatch(text, /parcel|<img|\/bytes/)
  for (const { id } of [first, urgent])
    assert.equal((await decide(id, 'keep', { 'same-bytes': 'on' })).status, 303)
  assert.equal((await decide(gone.id, 'keep')).status, 303)
  assert.match((await session.get('/queue')).text, /Nothing is waiting/)
})

it('fetches no image bytes before a step is requested', async () => {
  const { id, bytes } = await store(server.url)
  await report(server.url, id, {}, newAddress())
  const text = (await session.get(`/cases/${id}`)).text
  assert.match(text, /It is a &lt;b&gt;false&lt;\/b&gt; parcel notice/)
  assert.doesNotMatch(text, /<img|\/bytes|\/raw\//)
  for (const step of ['mosaic', 'blurred', 'grey', 'colour']) {
    const page = (await session.get(`/cases/${id}?show=${step}`)).text
    assert.match(page, new RegExp(`<img class="reported" data-show="${step}" src="/images/${id}/bytes"`))
  }
  assert.doesNotMatch((await session.get(`/cases/${id}?show=all`)).text, /<img/)
  const path = `/images/${id}/bytes`
  for (const act of ['', 'hold']) {
    if (act !== '') await decide(id, act)
    const picture = await session.get(path)
    assert.deepEqual([picture.status, picture.headers.get('Cache-Control')], [200, 'no-store'])
    assert.equal(picture.headers.get('Content-Type'), 'image/gif')
    assert.match(picture.headers.get('Content-Security-Policy')!, /sandbox/)
    assert.deepEqual(picture.body, bytes, act)
  }
  assert.equal(await statusOf(id), 403)
  assert.equal((await session.get('/images/zzzzzzzzzzz/bytes')).status, 400)
})

it('shows the preview beside the image, because they may differ', async () => {
  const { preview, file } = await previewed()
  const { id } = await store(server.url, file)
  await report(server.url, id, {}, newAddress())
  assert.doesNotMatch((await session.get(`/cases/${id}`)).text, /<img/)
  const page = (await session.get(`/cases/${id}?show=mosaic`)).text
  for (const part of ['bytes', 'preview'])
    assert.match(page, new RegExp(`<img class="reported" data-show="mosaic" src="/images/${id}/${part}"`))
  for (const act of ['', 'hold']) {
    if (act !== '') await decide(id, act)
    const shown = await session.get(`/images/${id}/preview`)
    assert.equal(shown.headers.get('Content-Type'), 'image/jpeg')
    assert.deepEqual(shown.body, preview)
  }
  const { id: plain } = await store(server.url)
  assert.equal((await session.get(`/images/${plain}/preview`)).status, 400)
})

it('hides an image at once and removes it after ten seconds, even if the server is killed meanwhile', async () => {
  const { id, bytes } = await store(server.url)
  const receipt = await report(server.url, id, {}, newAddress())
  const decided = await decide(id, 'remove-and-block')
  assert.equal(decided.status, 303, decided.text)
  assert.equal(await statusOf(id), 403, 'held')
  assert.equal(await stateOf(receipt), 'held')
  assert.ok((await undoable()).has(id))
  await server.kill()
  await server.restart()
  await until('it is removed', async () => (await statusOf(id)) === 410, 120_000)
  assert.equal(await stateOf(receipt), 'removed')
  assert.equal((await post(server.url, bytes)).status, 403, 'blocked')
  const { stdout } = await server.operator(['audit', '--json'])
  const ofImage = jsonLines(stdout).filter(({ subject }) => subject === id)
  assert.deepEqual(
    ofImage.map(({ act, reason, rule }) => [act, reason, rule]),
    [
      ['remove', 'as reported', 'malware'],
      ['hold', 'as reported', 'malware'],
    ],
  )
  for (const { who } of ofImage) assert.match(who, /.+@.+/)
})

it('undoes any decision in time, but not when it is too late', async () => {
  for (const act of ['keep', 'hold', 'remove']) {
    const { id } = await store(server.url)
    const receipt = await report(server.url, id, {}, newAddress())
    assert.equal((await decide(id, act)).status, 303)
    assert.equal(await statusOf(id), act === 'keep' ? 200 : 403)
    assert.equal(await stateOf(receipt), act === 'keep' ? 'open' : 'held')
    assert.equal((await decide(id, act === 'keep' ? 'remove' : 'keep')).status, 400, 'one at a time')
    const batch = (await undoable()).get(id)!
    const undone = await session.post('/undo', { batch })
    assert.deepEqual([undone.status, undone.headers.get('Location')], [303, `/cases/${id}`])
    assert.equal((await session.post('/undo', { batch })).status, 400)
    await until('it is visible', async () => (await statusOf(id)) === 200)
    assert.equal(await stateOf(receipt), 'open')
    assert.match((await session.get('/queue')).text, new RegExp(`/cases/${id}"`))
    await decide(id, 'keep')
  }
})

it('gives the key of undo to one’s own newest decision, and folds the others', async () => {
  const ids: string[] = []
  for (let count = 0; count < 3; count++) {
    const { id } = await store(server.url)
    await report(server.url, id, {}, newAddress())
    ids.push(id)
  }
  const [earlier, own, theirs] = ids as [string, string, string]
  await decide(earlier, 'keep')
  await decide(own, 'keep')
  const form = { act: 'hold', reason: 'x', image: theirs }
  const headers = { Authorization: `Bearer ${TOKEN}` }
  assert.equal((await atAdmin(server.dataDir, 'POST', '/images', { headers, form })).status, 303)
  const { text } = await session.get('/queue')
  const [shown, folded] = /<section class="pending"[\s\S]*?<\/section>/.exec(text)![0].split('<details>')
  const keyed = [...shown!.matchAll(/<code>(\w+)<\/code>[\s\S]*?data-key="z"/g)].map(([, id]) => id)
  assert.deepEqual(keyed, [own])
  assert.doesNotMatch(folded!, /data-key="z"/)
  assert.match(folded!, new RegExp(`Held by program: <code>${theirs}</code>`))
  assert.ok(folded!.includes(earlier))
  for (const batch of (await undoable()).values()) await session.post('/undo', { batch })
})

it('shows the next held case after a decision about a held one', async () => {
  const ids: string[] = []
  for (let count = 0; count < 3; count++) {
    const { id } = await store(server.url)
    await report(
      server.url,
      id,
      { category: 'intimate', name: 'A', email: 'a@b.c', signature: 'A' },
      newAddress(),
    )
    await server.operator(['hold', id, '--reason', 'x'])
    ids.push(id)
  }
  const shown: (string | null)[] = [`/cases/${ids[0]}`]
  for (const act of ['remove', 'keep'])
    shown.push((await decide(shown.at(-1)!.slice('/cases/'.length), act)).headers.get('Location'))
  assert.deepEqual(shown.sort(), ids.map((id) => `/cases/${id}`).sort())
})

it('applies one decision to the uploader’s other images and to identical ones', async () => {
  const from = '198.51.100.77'
  const same = gif({ size: 700 })
  const [one, two, stranger] = [
    await store(server.url, same, from),
    await store(server.url, gif({ size: 701 }), from),
    await store(server.url, same, '198.51.100.78'),
  ]
  await report(server.url, one.id, {}, newAddress())
  await report(server.url, stranger.id, {}, newAddress())
  const others = (await session.get(`/cases/${one.id}/others`)).text
  assert.ok(others.includes(two.id) && !others.includes(stranger.id) && !others.includes('<img'))
  const mosaics = (await session.get(`/cases/${one.id}/others?show=colour`)).text
  assert.match(mosaics, new RegExp(`data-show="mosaic" src="/images/${two.id}/bytes"`))
  assert.equal((await decide(one.id, 'hold', { 'same-bytes': 'on', 'same-uploader': 'on' })).status, 303)
  for (const { id } of [one, two, stranger]) assert.equal(await statusOf(id), 403)
  await session.post('/undo', { batch: (await undoable()).get([one.id, two.id, stranger.id].sort()[0]!)! })
  for (const { id } of [one, two, stranger])
    await until('it is visible again', async () => (await statusOf(id)) === 200)
  const page = (await session.get(`/cases/${one.id}`)).text
  assert.match(page, /name="same-bytes" value="on" checked/)
  assert.match(page, /name="same-uploader" value="on"(?! checked)/)
})

it('keeps all reported images of an uploader', async () => {
  const from = '198.51.100.80'
  const images = [gif({ size: 702 }), gif({ size: 703 }), gif({ size: 704 })]
  const [one, two, unreported] = await Promise.all(images.map((bytes) => store(server.url, bytes, from)))
  const receipts: string[] = []
  for (const { id } of [one!, two!]) receipts.push(await report(server.url, id, {}, newAddress()))
  assert.match((await session.get(`/cases/${one!.id}/others`)).text, /value="keep"/)
  assert.doesNotMatch((await session.get(`/cases/${unreported!.id}/others`)).text, /value="keep"/)
  assert.equal((await decide(one!.id, 'keep', { 'same-uploader': 'on' })).status, 303)
  for (const receipt of receipts)
    await until('it is kept', async () => (await stateOf(receipt)) === 'kept', 60_000)
})

it('records a reason that fits the decision if none is entered', async () => {
  const reasons: string[] = []
  for (const act of ['keep', 'hold', 'release']) {
    const { id } = await store(server.url)
    await report(server.url, id, {}, newAddress())
    if (act === 'release') await server.operator(['hold', id, '--reason', 'x'])
    assert.equal((await decide(id, act, { reason: '' })).status, 303)
    const entry = async () =>
      jsonLines((await server.operator(['audit', '--json'])).stdout).find(
        (each) => each.subject === id && each.act === act,
      )
    await until(`${act} is recorded`, async () => (await entry()) !== undefined, 60_000)
    reasons.push((await entry())!.reason)
  }
  assert.deepEqual(reasons, ['unfounded', 'as reported', 'unfounded'])
})

it('requires a reason and a valid action, and rejects unknown images', async () => {
  const { id } = await store(server.url)
  const wrong: Record<string, string>[] = [{ reason: '' }, { rule: 'No Code' }, { act: 'erase' }]
  for (const form of wrong) {
    assert.equal((await decide(id, 'hold', form)).status, 400)
  }
  assert.equal((await decide('zzzzzzzzzz1', 'hold')).status, 400)
  assert.equal((await decide(id, 'keep')).status, 400, 'nobody reported it')
  assert.equal((await decide(id, 'release')).status, 400)
  assert.equal(await statusOf(id), 200)
  const found = await session.get(`/cases?image=${encodeURIComponent(`https://x.example/${id}`)}`)
  assert.equal(found.headers.get('Location'), `/cases/${id}`)
})

it('shows a held image that its uploader deleted as undecided, and applies the decision to its bytes', async () => {
  for (const act of ['release', 'remove-and-block']) {
    const { id, key, bytes } = await store(server.url)
    await report(server.url, id, { category: 'malware' }, newAddress())
    assert.equal((await decide(id, 'hold')).status, 303)
    assert.equal((await remove(server.url, key)).status, 200)
    assert.equal(await statusOf(id), 404)
    assert.equal((await post(server.url, bytes)).json().error, 'held')
    assert.match((await session.get(`/cases/${id}`)).text, /Deleted by the uploader.*until you decide/)
    assert.ok((await session.get('/queue?state=held')).text.includes(id))
    // One decision at a time: the hold can still be undone.
    await until('it is decided', async () => (await decide(id, act)).status === 303)
    const expected = act === 'release' ? undefined : 'blocked-image'
    await until('it takes effect', async () => (await post(server.url, bytes)).json().error === expected)
  }
})

it('says so if more images are held than it lists', async () => {
  const ledger = await openSqliteLedger({ file: join(server.dataDir, 'ledger.sqlite') })
  assert.ok(!(await session.get('/')).text.includes('And more'))
  for (let count = 0; count < 250; count++)
    await ledger.recordHold(`${count}`.padStart(11, 'h'), 'x', new Date(count), undefined, null)
  await ledger.close()
  const { text } = await session.get('/')
  assert.ok(text.includes('And more'))
  assert.equal(text.match(/<ul class="held">.*?<\/ul>/s)![0].split('<li>').length - 1, 200)
})
