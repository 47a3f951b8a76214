/** Reports by form and by JSON, and the receipt that shows their state. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { needsOperator, type Visitor, visit, visitsTo, type World } from './host.ts'
import { operate } from './operator.ts'
import { checkPage, checkProblem } from './rules.ts'

const TEXT = 'This picture shows my garden without my leave.'

const REPORT = { category: 'other', text: TEXT, goodFaith: true }

export function reportCases(world: World): void {
  const onMain = visitsTo(world, world.main)
  const operated = visitsTo(world, world.main, needsOperator)

  const pathOf = (address: string) => new URL(address).pathname

  onMain('accepts a JSON report and shows its state on the receipt', async (me) => {
    const { id, link } = await me.store()
    const answer = await me.report({ ...REPORT, image: link })
    assert.equal(answer.status, 202, answer.text)
    assert.deepEqual(Object.keys(answer.json()), ['receipt'])
    const { receipt } = answer.json()
    assert.equal(answer.headers.get('Location'), receipt)
    const shown = await me.get(pathOf(receipt))
    assert.equal(shown.status, 200)
    const { reported, ...rest } = shown.json()
    assert.deepEqual(rest, { category: 'other', state: 'open', decided: null })
    assert.ok(Math.abs(Date.parse(reported) - Date.now()) < 86_400_000)
    checkPage(await me.get(pathOf(receipt), { Accept: 'text/html' }), 200)
    assert.equal((await me.get(`/raw/${id}`)).status, 200, 'a report removes nothing')
  })

  operated('shows the operator’s decision on the receipt', async (me) => {
    const { id } = await me.store()
    const unreported = await me.store()
    const path = pathOf((await me.report({ ...REPORT, image: id })).json().receipt)
    const decide = async (act: string, state: string, status: number) => {
      await operate(me.host, [act, id, '--reason', 'looked at'])
      const { state: shown, decided } = (await me.get(path)).json()
      assert.deepEqual([shown, decided !== null], [state, state !== 'open'], act)
      assert.equal((await me.get(`/raw/${id}`)).status, status, act)
    }
    await decide('hold', 'held', 403)
    await decide('keep', 'kept', 200)
    await decide('remove', 'removed', 410)
    const again = await me.host.operator!(['keep', id, unreported.id, '--reason', 'x'])
    assert.equal(again.code, 1, again.stdout)
    assert.equal((await me.get(path)).json().state, 'removed')
  })

  const asForm = (me: Visitor, fields: Record<string, string>, headers = {}) =>
    me.submit('/report', { 'good-faith': 'yes', ...fields }, headers)

  onMain('returns the same receipt for a repeated report, and a new one for another category', async (me) => {
    const { id } = await me.store()
    const first = await me.report({ ...REPORT, image: id })
    const { baseUrl } = me.host
    // As copied from the address bar, a chat or a gallery, or typed.
    for (const image of [`${baseUrl}/raw/${id}.gif?dl=1`, `${baseUrl}/preview/${id}`, `x.example/${id}`]) {
      const again = await me.report({ ...REPORT, image })
      assert.equal(again.json().receipt, first.json().receipt, image)
    }
    const other = await me.report({ ...REPORT, image: id, category: 'child-abuse' })
    assert.deepEqual([first.status, other.status], [202, 202])
    assert.notEqual(other.json().receipt, first.json().receipt)
  })

  onMain('refuses reports of unknown and deleted images, and keeps the form’s values', async (me) => {
    const { id, key } = await me.store()
    assert.equal((await me.remove(key)).status, 200)
    for (const image of ['00000000000', id]) {
      checkProblem(await me.report({ ...REPORT, image }), 404, 'not-found')
      checkProblem(await asForm(me, { category: 'other', text: TEXT, image }), 404, 'not-found')
      checkPage(await me.get(`/report?id=${image}`), 404)
    }
    const typed = { image: '00000000000', category: 'violence', text: `${TEXT} <b>&amp;`, name: 'Ada "B"' }
    const page = await asForm(me, typed, { Accept: 'text/html' })
    checkPage(page, 404)
    assert.equal(page.headers.get('Cache-Control'), 'no-store')
    for (const kept of [
      'value="00000000000"',
      '<option value="violence" selected>',
      '&lt;b&gt;&amp;amp;</textarea>',
      'value="Ada &quot;B&quot;"',
      'value="yes" required checked',
    ]) {
      assert.ok(page.text.includes(kept), kept)
    }
    checkPage(await asForm(me, { ...typed, text: 'short' }, { Accept: 'text/html' }), 422)
  })

  operated('accepts reports of held and removed images', async (me) => {
    for (const [act, state] of [
      ['hold', 'held'],
      ['remove', 'removed'],
    ] as const) {
      const { id } = await me.store()
      await operate(me.host, [act, id, '--reason', 'looked at'])
      checkPage(await me.get(`/report?id=${id}`), 200)
      const answer = await me.report({ ...REPORT, image: id })
      assert.equal(answer.status, 202, answer.text)
      assert.equal((await me.get(pathOf(answer.json().receipt))).json().state, state)
    }
  })

  onMain('accepts the form and redirects to the receipt', async (me) => {
    const { id, link } = await me.store()
    const page = await me.get(`/report?id=${id}`)
    checkPage(page, 200)
    assert.ok(page.text.includes(`value="${link}"`), 'the link is filled in')
    for (const strange of ['"><script>', 'https://elsewhere.example/a']) {
      const prefilled = await me.get(`/report?id=${encodeURIComponent(strange)}`)
      assert.ok(prefilled.text.includes('name="image"') && !prefilled.text.includes(strange))
    }
    const fields = { image: link, category: 'copyright', text: TEXT, name: 'A. Photographer' }
    const person = { email: 'a@b.example', signature: 'A. Photographer' }
    const sent = await asForm(me, { ...fields, ...person }, { Accept: 'text/html' })
    assert.equal(sent.status, 303, sent.text)
    const receipt = await me.get(sent.headers.get('Location')!, { Accept: 'text/html' })
    checkPage(receipt, 200)
    assert.doesNotMatch(receipt.text, /Photographer|garden/, 'the receipt shows no personal data')
    checkPage(await asForm(me, { ...fields, email: person.email }, { Accept: 'text/html' }), 422)
  })

  onMain('describes what is missing or invalid', async (me) => {
    const wrong: [object | string, RegExp][] = [
      ['no JSON', /JSON/],
      ['null', /JSON object/],
      [{ ...REPORT, image: 'https://elsewhere.example/a/b/c' }, /image/],
      [{ ...REPORT, image: '00000000000', category: 'toString' }, /category/],
      [{ ...REPORT, image: '00000000000', text: ' '.repeat(30) }, /characters/],
      [{ ...REPORT, image: '00000000000', text: 'x'.repeat(2001) }, /characters/],
      [{ ...REPORT, image: '00000000000', goodFaith: 'yes' }, /good faith/],
      [{ ...REPORT, image: '00000000000', category: 'personal-data' }, /name and e-mail/],
      [{ ...REPORT, image: '00000000000', email: 'nobody' }, /e-mail/],
    ]
    for (const [body, detail] of wrong) {
      const answer = await me.report(body)
      checkProblem(answer, 422, 'bad-report')
      assert.match(answer.json().detail, detail)
    }
    checkProblem(await me.report({ ...REPORT, image: 'x'.repeat(40_000) }), 413, 'body-too-large')
    checkProblem(await me.get(`/receipt/${'0'.repeat(64)}`), 404, 'not-found')
  })

  onMain('limits reports to ten per category, address and day, with Retry-After', async (me) => {
    const ids: string[] = []
    while (ids.length < 11) ids.push((await me.store()).id)
    for (const image of ids.slice(0, 10)) {
      assert.equal((await me.report({ ...REPORT, image })).status, 202)
    }
    const over = await me.report({ ...REPORT, image: ids[10] })
    checkProblem(over, 429, 'too-many-reports')
    const seconds = Number(over.headers.get('Retry-After'))
    assert.ok(seconds >= 1 && seconds <= 86_400, `${seconds}`)
    const form = { image: ids[10]!, category: 'other', text: TEXT }
    const byForm = await asForm(me, form)
    checkProblem(byForm, 429, 'too-many-reports')
    assert.match(byForm.headers.get('Retry-After') ?? '', /^[1-9]\d*$/)
    const asPage = await asForm(me, form, { Accept: 'text/html' })
    checkPage(asPage, 429)
    assert.match(asPage.headers.get('Retry-After') ?? '', /^[1-9]\d*$/)
    assert.ok(asPage.text.includes(ids[10]!), 'the form keeps its values')
    assert.equal(
      (await me.report({ ...REPORT, image: ids[3] })).status,
      202,
      'a repeated report does not count',
    )
    assert.equal((await me.report({ ...REPORT, image: ids[10], category: 'malware' })).status, 202)
    const neighbour = await visit(world, world.main)
    assert.equal((await neighbour.report({ ...REPORT, image: ids[10] })).status, 202)
  })

  it('throttles an address that reports many unknown images, without affecting others', async () => {
    const [me, neighbour] = [await visit(world, world.main), await visit(world, world.main)]
    const { id } = await neighbour.store()
    let last = await me.report({ ...REPORT, image: '00000000000' })
    // Each server counts separately.
    for (let i = 0; i < 200 && last.status === 404; i++) {
      last = await me.report({ ...REPORT, image: `none${i}`.padEnd(11, 'x') })
    }
    checkProblem(last, 429, 'too-many-reports')
    const seconds = Number(last.headers.get('Retry-After'))
    assert.ok(seconds >= 1 && seconds <= 10, `${seconds}`)
    assert.equal((await neighbour.report({ ...REPORT, image: id })).status, 202)
  })

  onMain('refuses cross-site reports and invalid forms', async (me) => {
    const { id } = await me.store()
    const form = { image: id, category: 'other', text: TEXT }
    const crossSite = { 'Sec-Fetch-Site': 'cross-site' }
    const given = { ...REPORT, image: id }
    checkProblem(
      await me.report(given, { ...crossSite, Origin: 'https://elsewhere.example' }),
      403,
      'cross-site',
    )
    checkProblem(await me.submit('/report', form, crossSite), 403, 'cross-site')
    checkProblem(await me.submit('/report', form, { 'Content-Type': 'application/json' }), 415, 'not-a-form')
    checkProblem(await me.submit('/report', { ...form, image: 'x'.repeat(40_000) }), 413, 'body-too-large')
    checkProblem(await me.submit('/report', { ...form, category: '' }), 422, 'bad-report')
  })
}
