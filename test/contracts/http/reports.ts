/** Reports: a form, a program's way, and a receipt that shows what became of one. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type Visitor, visit, type World } from './host.ts'
import { operate } from './operator.ts'
import { checkPage, checkProblem } from './rules.ts'

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }
const JSON_TYPE = { 'Content-Type': 'application/json' }
const TEXT = 'This picture shows my garden without my leave.'

const GIVEN = { category: 'other', text: TEXT, goodFaith: true }

export function reportCases(world: World): void {
  const asProgram = (me: Visitor, body: object | string) =>
    me.request('POST', '/api/report', {
      headers: JSON_TYPE,
      body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    })
  const pathOf = (address: string) => new URL(address).pathname

  it('takes a report from a program, and shows its state on the receipt', async () => {
    const me = await visit(world, world.main)
    const { id, link } = await me.store()
    const answer = await asProgram(me, { ...GIVEN, image: link })
    assert.equal(answer.status, 202, answer.text)
    assert.deepEqual(Object.keys(answer.json()), ['receipt'])
    const { receipt } = answer.json()
    assert.equal(answer.headers.get('Location'), receipt)
    const shown = await me.get(pathOf(receipt))
    assert.equal(shown.status, 200)
    const { reported, ...rest } = shown.json()
    assert.deepEqual(rest, { category: 'other', state: 'open', decided: null })
    assert.ok(Math.abs(Date.parse(reported) - Date.now()) < 86_400_000)
    checkPage(await me.request('GET', pathOf(receipt), { headers: { Accept: 'text/html' } }), 200)
    assert.equal((await me.get(`/raw/${id}`)).status, 200, 'a report removes nothing')
  })

  it('shows what the operator decided, on the receipt', async (t) => {
    const me = await visit(world, world.main)
    if (!me.host.operator) return t.skip('does not apply: this host has no operator command')
    const { id } = await me.store()
    const unreported = await me.store()
    const path = pathOf((await asProgram(me, { ...GIVEN, image: id })).json().receipt)
    const decide = async (act: string, state: string, status: number) => {
      await operate(me.host, [act, id, '--reason', 'looked at'])
      const { state: shown, decided } = (await me.get(path)).json()
      assert.deepEqual([shown, decided !== null], [state, state !== 'open'], act)
      assert.equal((await me.get(`/raw/${id}`)).status, status, act)
    }
    await decide('hold', 'held', 403)
    await decide('keep', 'kept', 200)
    await decide('remove', 'removed', 410)
    const again = await me.host.operator(['keep', id, unreported.id, '--reason', 'x'])
    assert.equal(again.code, 1, again.stdout)
    assert.equal((await me.get(path)).json().state, 'removed')
  })

  it('answers a repeat, and a report of nothing that is here, like any other', async () => {
    const me = await visit(world, world.main)
    const { id } = await me.store()
    const first = await asProgram(me, { ...GIVEN, image: id })
    const again = await asProgram(me, { ...GIVEN, image: `${me.host.baseUrl}/raw/${id}.gif?dl=1` })
    const unknown = await asProgram(me, { ...GIVEN, image: '00000000000' })
    assert.deepEqual([first.status, again.status, unknown.status], [202, 202, 202])
    assert.equal(again.json().receipt, first.json().receipt)
    assert.notEqual(unknown.json().receipt, first.json().receipt)
    const states = await Promise.all([first, unknown].map((each) => me.get(pathOf(each.json().receipt))))
    const [known, stranger] = states.map((each) => {
      const { reported: _, ...rest } = each.json()
      return [each.status, rest]
    })
    assert.deepEqual(stranger, known)
  })

  it('takes the form, and leads to the receipt', async () => {
    const me = await visit(world, world.main)
    const { id, link } = await me.store()
    const page = await me.get(`/report?id=${id}`)
    checkPage(page, 200)
    assert.ok(page.text.includes(`value="${link}"`), 'the link is filled in')
    for (const strange of ['"><script>', 'https://elsewhere.example/a']) {
      const asked = await me.get(`/report?id=${encodeURIComponent(strange)}`)
      assert.ok(asked.text.includes('name="image"') && !asked.text.includes(strange))
    }
    const fields = new URLSearchParams({
      image: link,
      category: 'copyright',
      text: TEXT,
      name: 'A. Photographer',
      email: 'a@b.example',
      signature: 'A. Photographer',
      'good-faith': 'yes',
    })
    const post = (body: URLSearchParams) =>
      me.request('POST', '/report', {
        headers: { ...FORM, Accept: 'text/html' },
        body: Buffer.from(body.toString()),
      })
    const sent = await post(fields)
    assert.equal(sent.status, 303, sent.text)
    const receipt = await me.request('GET', pathOf(sent.headers.get('Location')!), {
      headers: { Accept: 'text/html' },
    })
    checkPage(receipt, 200)
    assert.doesNotMatch(receipt.text, /Photographer|garden/, 'nothing of the reporter is shown')
    fields.delete('signature')
    checkPage(await post(fields), 422)
  })

  it('says what is missing', async () => {
    const me = await visit(world, world.main)
    const wrong: [object | string, RegExp][] = [
      ['no JSON', /JSON/],
      ['null', /picture/],
      [{ ...GIVEN, image: 'https://elsewhere.example/a/b/c' }, /picture/],
      [{ ...GIVEN, image: '00000000000', category: 'toString' }, /wrong/],
      [{ ...GIVEN, image: '00000000000', text: ' '.repeat(30) }, /characters/],
      [{ ...GIVEN, image: '00000000000', text: 'x'.repeat(2001) }, /characters/],
      [{ ...GIVEN, image: '00000000000', goodFaith: 'yes' }, /good faith/],
      [{ ...GIVEN, image: '00000000000', category: 'personal-data' }, /name and e-mail/],
      [{ ...GIVEN, image: '00000000000', email: 'nobody' }, /e-mail/],
    ]
    for (const [body, detail] of wrong) {
      const answer = await asProgram(me, body)
      checkProblem(answer, 422, 'bad-report')
      assert.match(answer.json().detail, detail)
    }
    checkProblem(await asProgram(me, { ...GIVEN, image: 'x'.repeat(40_000) }), 413, 'body-too-large')
    checkProblem(await me.get(`/receipt/${'0'.repeat(64)}`), 404, 'not-found')
  })

  it('takes ten reports of an address on a day, and no page of another site', async () => {
    const me = await visit(world, world.main)
    const report = (nth: number) => asProgram(me, { ...GIVEN, image: `flood${nth}`.padEnd(11, 'x') })
    for (let nth = 0; nth < 10; nth++) assert.equal((await report(nth)).status, 202)
    checkProblem(await report(10), 429, 'too-many-reports')
    assert.equal((await report(3)).status, 202, 'a repeat is none')
    const other = await me.request('POST', '/api/report', {
      headers: { ...JSON_TYPE, 'Sec-Fetch-Site': 'cross-site', Origin: 'https://elsewhere.example' },
      body: Buffer.from(JSON.stringify({ ...GIVEN, image: '00000000000' })),
    })
    checkProblem(other, 403, 'cross-site')

    const byForm = (fields: Record<string, string>, headers: Record<string, string> = FORM) =>
      me.request('POST', '/report', { headers, body: Buffer.from(new URLSearchParams(fields).toString()) })
    const form = { ...GIVEN, image: 'flooded0000', 'good-faith': 'yes', goodFaith: '' }
    checkProblem(await byForm(form), 429, 'too-many-reports')
    checkProblem(await byForm(form, JSON_TYPE), 415, 'not-a-form')
    checkProblem(await byForm({ ...form, image: 'x'.repeat(40_000) }), 413, 'body-too-large')
    checkProblem(await byForm({ ...form, category: '' }), 422, 'bad-report')
    checkProblem(await byForm(form, { ...FORM, 'Sec-Fetch-Site': 'cross-site' }), 403, 'cross-site')
  })

  it('says who runs the service and what they decided, and nothing that nobody said', async () => {
    const me = await visit(world, world.main)
    for (const [path, part] of [
      ['/rules', 'rules'],
      ['/contact', 'contact'],
    ] as const) {
      const moved = await me.get(path)
      assert.equal(moved.status, 307)
      assert.equal(moved.headers.get('Location'), `${me.host.baseUrl}/terms#${part}`)
      assert.ok((await me.get('/terms')).text.includes(`id="${part}"`))
    }
    const terms = (await me.get('/terms')).text
    assert.ok(terms.includes('Ada') && terms.includes('href="mailto:ada@ops.example"'))
    const security = await me.get('/.well-known/security.txt')
    assert.equal(security.headers.get('Content-Type'), 'text/plain; charset=utf-8')
    assert.match(security.text, /^Contact: mailto:ada@ops\.example\nExpires: (\S+Z)\n/)
    const days = (Date.parse(/Expires: (\S+)/.exec(security.text)![1]!) - Date.now()) / 86_400_000
    assert.ok(days > 30 && days < 365, `${days}`)
    const stranger = await visit(world, world.bare)
    checkProblem(await stranger.get('/.well-known/security.txt'), 404, 'not-found')

    const { link } = await me.store()
    assert.ok((await me.get(new URL(link).pathname)).text.includes(`href="/report?id=${link.slice(-11)}"`))
    assert.equal((await asProgram(me, { ...GIVEN, category: 'malware', image: link })).status, 202)
    const page = await me.get('/transparency')
    checkPage(page, 200)
    assert.match(page.text, /Fraud or malware/)
  })
}
