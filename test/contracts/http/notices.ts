/** Pages about the operator: terms, transparency, and how to report a hole. */
import assert from 'node:assert/strict'
import { visit, visitsTo, type World } from './host.ts'
import { checkPage, checkProblem } from './rules.ts'

export function noticeCases(world: World): void {
  const onMain = visitsTo(world, world.main)

  onMain('says who runs the service and what they decided, and nothing that nobody said', async (me) => {
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
    const text = 'This picture is a false parcel notice.'
    const filed = await me.report({ image: link, category: 'malware', text, goodFaith: true })
    assert.equal(filed.status, 202, filed.text)
    const page = await me.get('/transparency')
    checkPage(page, 200)
    assert.match(page.text, /Fraud or malware/)
  })
}
