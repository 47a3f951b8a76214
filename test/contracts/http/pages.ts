/** Pages: viewer, home, errors and operator contact; their headers and compression. */
import assert from 'node:assert/strict'
import { gunzipSync } from 'node:zlib'
import { gif, png } from '../../support/images/tiny-images.ts'
import { needsOwnCompression, visit, visitsTo, type World } from './host.ts'
import { checkPage, checkProblem } from './rules.ts'

const UNKNOWN = `Zr4Kq9Lm2Xa${'k'.repeat(32)}`

export function pageCases(world: World): void {
  const withOwnCompression = visitsTo(world, world.main, needsOwnCompression)
  const onMain = visitsTo(world, world.main)

  onMain('shows the image with its dimensions, type and a download link', async (me) => {
    const { id } = await me.store(png(123, 45))
    const page = await me.get(`/${id}`)
    checkPage(page, 200)
    assert.equal(page.headers.get('Cache-Control'), 'private, no-cache')
    const image = tags(page.text, 'img').find((tag) => tag.src?.includes(`/raw/${id}`))
    assert.equal(image?.width, '123')
    assert.equal(image?.height, '45')
    assert.notEqual(image?.alt, undefined)
    const links = tags(page.text, 'a')
    assert.ok(
      links.some(({ href }) => pathOf(href, me.host.baseUrl) === '/'),
      'a back link',
    )
    const download = links.find(({ href }) => pathOf(href, me.host.baseUrl) === `/raw/${id}?dl=1`)
    assert.ok(download, 'a download button')
    assert.match(page.text, /PNG/)
    assert.match(page.text, /123\s*(<[^>]*>)*\s*[×x]\s*(<[^>]*>)*\s*45/)
    assert.match(page.text, /\d\s*(B|bytes|KB)\b/)
  })

  onMain('offers absolute links to copy', async (me) => {
    const { id, link } = await me.store(png(4, 3))
    const text = unescapeHtml((await me.get(`/${id}`)).text)
    const raw = `${me.host.baseUrl}/raw/${id}`
    assert.ok(text.includes(link), 'the page')
    assert.ok(text.includes(raw), 'the image')
    assert.match(text, new RegExp(`!?\\[[^\\]]*\\]\\(${raw}(\\.png)?\\)`), 'Markdown')
    assert.match(text, new RegExp(`\\[img\\]${raw}(\\.png)?\\[/img\\]`, 'i'), 'BBCode')
    assert.match(text, new RegExp(`<img [^>]*src="${raw}(\\.png)?"`), 'HTML')
  })

  onMain('never contains the deletion key', async (me) => {
    const { id, key } = await me.store()
    const secret = key.slice(id.length)
    for (const path of [`/${id}`, `/${id}?key=${key}`, `/raw/${id}`]) {
      const answer = await me.get(path)
      assert.ok(!answer.text.includes(secret), path)
      assert.ok(![...answer.headers.values()].some((value) => path.endsWith(id) && value.includes(secret)))
    }
  })

  onMain('ignores unknown query parameters', async (me) => {
    const { id } = await me.store()
    checkPage(await me.get(`/${id}?fbclid=x&"><script>`), 200)
    assert.ok(!(await me.get(`/${id}?"><script>alert(1)</script>`)).text.includes('alert(1)'))
  })

  onMain('shows a 404 page for unknown and deleted images', async (me) => {
    const { id, key } = await me.store()
    await me.remove(key)
    for (const path of [`/${id}`, '/AAAAAAAAAAA'])
      checkPage(await me.get(path, { 'If-None-Match': '*' }), 404)
  })

  onMain('has a home page whose form works without scripts', async (me) => {
    const page = await me.get('/')
    checkPage(page, 200)
    assert.equal(page.headers.get('Cache-Control'), 'private, no-cache')
    const form = tags(page.text, 'form').find(
      ({ action }) => pathOf(action, me.host.baseUrl) === '/api/upload',
    )
    assert.equal(form?.method?.toLowerCase(), 'post')
    assert.equal(form?.enctype, 'multipart/form-data')
    const inside = /<form[^>]*enctype[^>]*>([\s\S]*?)<\/form>/.exec(page.text)?.[1] ?? ''
    const fields = tags(inside, 'input').filter(({ name }) => name !== undefined)
    assert.ok(tags(inside, 'button').length + tags(inside, 'input').length > 1, 'a submit button')
    assert.doesNotMatch(
      page.text,
      /<(input|select|textarea)[^>]*\sform=/,
      'no form field outside the form element',
    )
    assert.deepEqual(
      fields.map(({ type, name }) => [type, name]),
      [['file', 'file']],
      'exactly one field, named file',
    )
  })

  onMain('loads styles and scripts from its own origin only', async (me) => {
    const { id } = await me.store()
    const origin = new URL(me.host.baseUrl).origin
    for (const path of ['/', `/${id}`, '/AAAAAAAAAAA']) {
      const page = await me.get(path)
      const sheets = tags(page.text, 'link').filter(({ rel }) => rel === 'stylesheet')
      assert.ok(sheets.length > 0, `${path} has a style`)
      const assets = [...sheets.map(({ href }) => href), ...tags(page.text, 'script').map(({ src }) => src)]
      for (const address of assets.filter((address) => address !== undefined)) {
        const to = new URL(address, me.host.baseUrl)
        assert.equal(to.origin, origin, 'no asset of another origin')
        const asset = await me.get(to.pathname + to.search)
        assert.equal(asset.status, 200, address)
        assert.match(asset.headers.get('Content-Type') ?? '', /^text\/(css|javascript)/)
        assert.equal((await me.request('HEAD', to.pathname)).status, 200)
      }
    }
  })

  withOwnCompression('compresses pages for clients that accept gzip only', async (me) => {
    const { id } = await me.store()
    for (const path of ['/', '/terms', '/g', `/${id}`, '/AAAAAAAAAAA']) {
      const plain = await me.get(path, { Accept: 'text/html' })
      for (const accepted of ['gzip', 'gzip, br', 'br;q=0, *', 'GZIP;q=0.5']) {
        const answer = await me.get(path, { Accept: 'text/html', 'Accept-Encoding': accepted })
        assert.equal(answer.headers.get('Content-Encoding'), 'gzip', `${path}, ${accepted}`)
        assert.equal(answer.status, plain.status)
        assert.equal(`${gunzipSync(answer.body)}`, plain.text)
        assert.equal(answer.headers.get('Content-Length'), `${answer.body.length}`)
      }
      for (const accepted of ['', 'gzip;q=0', 'br', 'identity', '*;q=0', 'gzip;q=0, *']) {
        const answer = await me.get(path, { Accept: 'text/html', 'Accept-Encoding': accepted })
        assert.equal(answer.headers.get('Content-Encoding'), null, `${path}, ${accepted}`)
        assert.equal(answer.text, plain.text)
      }
      assert.match(plain.headers.get('Vary') ?? '', /Accept-Encoding/)
    }
  })

  withOwnCompression('neither compresses nor caches a page that contains a key', async (me) => {
    const { key } = await me.store()
    const confirmation = await me.get(`/api/delete?key=${key}`, {
      Accept: 'text/html',
      'Accept-Encoding': 'gzip',
    })
    const result = await me.upload(gif(), { Accept: 'text/html,*/*;q=0.8', 'Accept-Encoding': 'gzip' })
    for (const answer of [confirmation, result]) {
      assert.match(answer.text, /[0-9A-Za-z]{43}/)
      assert.equal(answer.headers.get('Content-Encoding'), null)
      assert.equal(answer.headers.get('Cache-Control'), 'no-store, no-transform')
    }
  })

  onMain('says on the deletion page that the image is already deleted', async (me) => {
    const { key } = await me.store()
    await me.remove(key)
    for (const gone of [key, UNKNOWN]) {
      const page = await me.get(`/api/delete?key=${gone}`, { Accept: 'text/html' })
      checkPage(page, 404)
      assert.match(page.text, /already been deleted/)
      assert.doesNotMatch(page.text, /<button/)
      assert.equal(page.headers.get('Cache-Control'), 'no-store')
    }
  })

  onMain('publishes the operator’s contact and decisions, and no contact without one', async (me) => {
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

/** The attributes of all start tags with the name. A regular expression is enough for our own pages. */
function tags(html: string, name: string): Record<string, string | undefined>[] {
  return [...html.matchAll(new RegExp(`<${name}((?:\\s[^>]*)?)>`, 'gi'))].map(([, attributes]) =>
    Object.fromEntries(
      [...attributes!.matchAll(/([\w:-]+)(?:=(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g)].map(
        ([, key, double, single, plain]) => [
          key!.toLowerCase(),
          unescapeHtml(double ?? single ?? plain ?? ''),
        ],
      ),
    ),
  )
}

function unescapeHtml(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}

function pathOf(href: string | undefined, baseUrl: string): string | null {
  if (href === undefined) return null
  const to = new URL(href, baseUrl)
  return to.origin === new URL(baseUrl).origin ? to.pathname + to.search : null
}
