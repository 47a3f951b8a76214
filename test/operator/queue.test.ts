/** The operator's `queue` and `show` commands. */
import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import { gif } from '../support/images/tiny-images.ts'
import { startServer } from '../support/processes/server.ts'
import { report } from '../support/report.ts'
import { remove, store } from '../support/upload.ts'

const TEXT = 'This picture shows my garden, می\u200cخواهم.\nWithout my leave.'

const server = await startServer()
after(() => server.stop())

async function operate(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await server.operator(args)
  assert.equal(code, 0, stderr)
  return stdout
}

it('says when there is nothing to list', async () => {
  assert.equal(await operate('queue'), 'no open cases\n')
  assert.equal(await operate('queue', '--held'), 'no held cases\n')
  assert.equal(await operate('queue', '--json'), '')
  assert.equal(await operate('audit'), 'no entries\n')
})

it('lists cases by severity, and shows a case with its reports, without the image', async () => {
  const { id, key } = await store(server.url, gif())
  const gone = await store(server.url, gif())
  await report(server.url, gone.id, { text: TEXT, category: 'other', name: 'Ada', email: 'ada@b.example' })
  assert.equal((await remove(server.url, gone.key)).status, 200)
  const sent = TEXT.replace('garden', '\x1b\u202egar\u0007den')
  await report(server.url, id, { text: sent, category: 'child-abuse' })

  const [first, second, ...rest] = (await operate('queue')).trim().split('\n')
  assert.match(first!, new RegExp(`^${id} child-abuse severity 0 1 report open due in \\d+ min$`))
  assert.match(second!, new RegExp(`^${gone.id} other severity 5 1 report open due in 16[78] h image gone$`))
  assert.deepEqual(rest, [])

  await operate('hold', id, '--reason', 'to be looked at')
  const [open, held, text, json, none] = await Promise.all([
    operate('queue', '--json'),
    operate('queue', '--held', '--json'),
    operate('show', gone.id),
    operate('show', id, '--json'),
    server.operator(['show', 'zzzzzzzzzzz']),
  ])
  assert.equal(JSON.parse(open).id, gone.id)
  assert.equal(JSON.parse(open).gone, true)
  const { opened, due, decided, ...found } = JSON.parse(held)
  assert.equal(Date.parse(due) - Date.parse(opened), 3_600_000)
  assert.ok(Date.parse(decided) >= Date.parse(opened))
  assert.deepEqual(found, {
    id,
    category: 'child-abuse',
    severity: 0,
    reports: 1,
    state: 'held',
    crowded: false,
    gone: false,
  })

  assert.match(text, /^deleted$/m)
  assert.match(text, / other from Ada <ada@b\.example>\n {2}This picture .*\n {2}Without my leave\.\n/)
  const shown = JSON.parse(json)
  assert.deepEqual([shown.id, shown.place, shown.record.type], [id, 'held', 'image/gif'])
  assert.deepEqual(shown.case, JSON.parse(held))
  assert.deepEqual([shown.reports.length, shown.reports[0].text], [1, TEXT])
  assert.ok(!json.includes('keySha256') && !json.includes(key.slice(id.length)))
  assert.equal(none.code, 1)
})

it('says when a list is cut off', async () => {
  for (let count = 0; count < 2; count++)
    await report(server.url, (await store(server.url, gif({ size: 600 + count }))).id, { text: TEXT })
  for (const command of ['queue', 'audit']) {
    for (const more of [[], ['--json']]) {
      const whole = await server.operator([command, ...more])
      assert.doesNotMatch(whole.stderr, /--limit/)
      const lines = whole.stdout.trim().split('\n')
      const cut = await server.operator([command, ...more, '--limit', `${lines.length - 1}`])
      assert.equal(cut.stdout.trim().split('\n').length, Math.max(1, lines.length - 1))
      assert.match(cut.stderr, new RegExp(`more than ${lines.length - 1}: --limit`))
    }
  }
})
