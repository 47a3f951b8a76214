/** The feed of pending decisions, the export of past ones, and what the public learns about them. */
import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import { feedDocument } from '../../src/web/operator/feed.ts'
import { adminSession } from '../support/admin-session.ts'
import { atAdmin } from '../support/at-admin.ts'
import { jsonLines } from '../support/processes/process.ts'
import { startServer } from '../support/processes/server.ts'
import { report } from '../support/report.ts'
import { store } from '../support/upload.ts'

const TOKEN = 'a-token-of-programs-0123456789'
const TEXT = 'My garden, without my leave.'

const server = await startServer({ OPERATOR_TOKEN: TOKEN, OPERATOR_CONTACT: 'op@pinhole.example' })
after(() => server.stop())

const feed = (authorization?: string) =>
  atAdmin(server.dataDir, 'GET', '/feed.xml', {
    headers: authorization === undefined ? {} : { Authorization: authorization },
  })
const basic = (token: string) => `Basic ${btoa(`reader:${token}`)}`

it('serves the feed for the token as feed readers send it, or in a session, and otherwise answers 401', async () => {
  const { cookie } = await adminSession(server)
  const inSession = await atAdmin(server.dataDir, 'GET', '/feed.xml', { headers: { Cookie: cookie } })
  for (const answer of [await feed(basic(TOKEN)), await feed(`Bearer ${TOKEN}`), inSession]) {
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('Content-Type'), 'application/atom+xml; charset=utf-8')
  }
  for (const wrong of [undefined, basic('x'), 'Basic %%%', 'Basic', `Bearer ${TOKEN}x`]) {
    const answer = await feed(wrong)
    assert.equal(answer.status, 401, `${wrong}`)
    assert.match(answer.headers.get('WWW-Authenticate')!, /^Basic realm=/)
  }
  // Browsers send Basic credentials automatically, so these only open the feed.
  assert.equal(
    (await atAdmin(server.dataDir, 'GET', '/acts', { headers: { Authorization: basic(TOKEN) } })).status,
    401,
  )
})

it('lists categories, counts and links of open cases, and none of the reporters’ text', async () => {
  const { id } = await store(server.url)
  await report(server.url, id, { category: 'violence', text: TEXT, name: 'Ada & <b>', email: 'a@b.example' })
  const { text } = await feed(basic(TOKEN))
  assert.match(
    text,
    /^<\?xml version="1\.0" encoding="utf-8"\?>\n<feed xmlns="http:\/\/www\.w3\.org\/2005\/Atom">/,
  )
  const entry = text.split('<entry>').find((each) => each.includes(`/cases/${id}`))!
  assert.match(entry, /<title>violence, 1 report<\/title>/)
  assert.match(entry, /<updated>\d{4}-\d\d-\d\dT[\d:.]+Z<\/updated>/)
  assert.doesNotMatch(text, /garden|Ada|b\.example/)
  const ids = [...text.matchAll(/<id>([^<]+)<\/id>/g)].map(([, each]) => each)
  assert.equal(new Set(ids).size, ids.length)
  assert.ok((await server.operator(['keep', id, '--reason', 'x'])).code === 0)
  assert.ok(!(await feed(basic(TOKEN))).text.includes(id))
})

it('lists every alert that is not about a case', () => {
  const names = ['due 11111111111', 'purges', 'tombstones', 'scanner', 'flood 2026-07-31', 'disk host']
  const alerts = names.map((name) => ({ name, since: 0 }))
  const feed = `${feedDocument({ url: 'https://ops.example', cases: [], alerts, acts: [], now: 1 })}`
  assert.equal(feed.split('<entry>').length - 1, 5)
})

it('exports audit entries and decisions as JSON lines, oldest first, without the reporters’ text', async () => {
  const { id } = await store(server.url)
  await report(server.url, id, { category: 'other', text: TEXT, name: 'Ada', email: 'a@b.example' })
  await server.operator(['hold', id, '--reason', 'to be looked at', '--rule', 'other'])
  await server.operator(['remove', id, '--reason', 'as reported', '--rule', 'other'])
  const { stdout, code } = await server.operator(['export'])
  assert.equal(code, 0)
  const lines = jsonLines(stdout)
  const acts = lines.filter(({ kind, subject }) => kind === 'act' && subject === id)
  assert.deepEqual(
    acts.map(({ act, rule }) => [act, rule]),
    [
      ['hold', 'other'],
      ['remove', 'other'],
    ],
  )
  for (const { at, who } of acts) assert.ok(Date.parse(at) > 0 && /.+@.+/.test(who))
  const found = lines.find((line) => line.kind === 'case' && line.id === id)
  assert.deepEqual([found.state, found.category, found.reports], ['removed', 'other', 1])
  assert.doesNotMatch(stdout, /garden|Ada|b\.example/)
})
