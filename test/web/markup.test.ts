/** HTML of the pages, tested without a browser. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { brotliDecompressSync } from 'node:zlib'
import { loadAssets } from '../../src/node/assets/load.ts'
import { pickLanguage } from '../../src/web/messages/language.ts'
import { deletePage } from '../../src/web/pages/delete.ts'
import { errorPage } from '../../src/web/pages/error.ts'
import { GALLERY_SCRIPT_DIGEST, galleryPage } from '../../src/web/pages/gallery.ts'
import { homePage } from '../../src/web/pages/home.ts'
import type { PageContext } from '../../src/web/pages/page.ts'
import { receiptPage } from '../../src/web/pages/report.ts'
import { termsPage } from '../../src/web/pages/terms.ts'
import { viewerPage } from '../../src/web/pages/viewer.ts'
import { idFor, recordOf } from '../support/stored-images.ts'

const HOSTILE = `</script></title>"'><img src=x onerror=alert(1)>`
const { assets, urls } = await loadAssets()

const ctx: PageContext = {
  baseUrl: 'https://pics.example',
  maxUploadBytes: 26_214_400,
  stripsMetadata: true,
  convertsHeic: true,
  resizer: null,
  linksUploads: true,
  lifetimes: { standard: Number.POSITIVE_INFINITY, max: Number.POSITIVE_INFINITY },
  ...pickLanguage('en'),
  assets: urls,
}
const record = recordOf(idFor(1), new Uint8Array(2048), {
  type: 'image/webp',
  width: 640,
  height: 480,
  animated: true,
})
const pages = async () => ({
  home: `${await homePage(ctx, { uploadsPaused: false })}`,
  viewer: `${await viewerPage(ctx, { record })}`,
  deletion: `${await deletePage(ctx, { key: HOSTILE })}`,
  error: `${await errorPage(ctx, { status: 418, title: HOSTILE, detail: HOSTILE })}`,
  terms: `${await termsPage({ ...ctx, operator: { name: HOSTILE, contact: HOSTILE } }, { text: `# ${HOSTILE}\n\n${HOSTILE}\n\nsecond` })}`,
})

describe('pages', () => {
  it('use exactly one inline script in the gallery, which matches the policy’s digest', async () => {
    const [[, script = ''] = [], ...others] = `${await galleryPage(ctx)}`.matchAll(
      /<script>(.*?)<\/script>/gs,
    )
    assert.equal(others.length, 0)
    assert.equal(createHash('sha256').update(script).digest('base64'), GALLERY_SCRIPT_DIGEST)
  })

  it('escape untrusted text', async () => {
    const { deletion, error, terms } = await pages()
    for (const text of [deletion, error, terms]) {
      assert.ok(!text.includes('<img src=x'))
      assert.ok(text.includes('&lt;img src=x'))
    }
    assert.match(terms, /<p>second<\/p>/)
  })

  it('have link preview tags for the home page', async () => {
    const { home } = await pages()
    const meta = (name: string) => new RegExp(`<meta property="${name}" content="([^"]*)"`).exec(home)?.[1]
    assert.equal(meta('og:url'), 'https://pics.example/')
    assert.ok(meta('og:title') && meta('og:description'))
    const preview = new URL(meta('og:image')!).pathname
    assert.equal(assets.get(preview)?.type, 'image/png')
  })

  it('enlarge tiny pictures by a whole factor, and no others', async () => {
    const shown = async (width: number, height: number) => {
      const page = `${await viewerPage(ctx, { record: { ...record, type: 'image/png', width, height } })}`
      const [, across, down] = /<canvas width="(\d+)" height="(\d+)"/.exec(page) ?? []
      return [Number(across), Number(down), page.includes('enlarged')]
    }
    assert.deepEqual(await shown(1, 1), [128, 128, true])
    assert.deepEqual(await shown(16, 40), [48, 120, true])
    assert.deepEqual(await shown(65, 10), [65, 10, false])
    assert.deepEqual(await shown(640, 480), [640, 480, false])
  })

  it('format dates for the visitor’s locale', async () => {
    const receipt = {
      category: 'other',
      at: Date.UTC(2026, 10, 22),
      isShared: false,
      state: 'open',
      decidedAt: null,
    } as const
    for (const [accepted, date] of [
      ['en-GB,en;q=0.9', '22 November 2026'],
      ['en-US', 'November 22, 2026'],
      ['en, fr-CH', 'November 22, 2026'],
      ['de-AT', '22. November 2026'],
      ['en-x!,*;q=0.1', 'November 22, 2026'],
    ] as const) {
      const page = `${await receiptPage({ ...ctx, ...pickLanguage(accepted) }, receipt)}`
      assert.ok(page.includes(`>${date}<`), `${accepted}: ${/<time[^>]*>([^<]*)</.exec(page)?.[1]}`)
    }
  })

  it('describe a picture in link previews, and keep it out of search engines', async () => {
    const { viewer } = await pages()
    const meta = (name: string) =>
      new RegExp(`<meta (?:property|name)="${name}" content="([^"]*)"`).exec(viewer)?.[1]
    assert.equal(meta('robots'), 'noindex')
    assert.match(meta('og:image:alt') ?? '', /640 × 480/)
  })

  it('translate errors and the operator’s rules where a translation exists', async () => {
    const german = { ...ctx, ...pickLanguage('de') }
    const known = `${await errorPage(german, { status: 413, error: 'file-too-large', title: 'x', detail: 'y' })}`
    assert.match(known, /<html lang="de" dir="ltr">/)
    assert.match(known, /Dieses Bild ist zu groß\.[\s\S]*bis zu 25\u00a0MB/)
    const unknown = `${await errorPage(german, { status: 500, title: 'Server error', detail: 'Sorry.' })}`
    assert.match(unknown, /Das hat nicht geklappt\.[\s\S]*Sorry\./)
    for (const [error, rule, said] of [
      ['removed', 'copyright', 'Urheberrecht'],
      ['removed', 'house-rule-3', 'house-rule-3'],
      ['removed', '', undefined],
      ['held', 'copyright', undefined],
    ] as const) {
      const page = `${await errorPage(german, { status: 410, error, title: 'x', detail: 'y', rule })}`
      assert.equal(/Begründung des Betreibers:<\/p><p>([^<]*)/.exec(page)?.[1], said)
      assert.equal(page.includes('<blockquote'), said !== undefined)
    }
  })
})

describe('assets', () => {
  it('use :hover only on devices that can hover', async () => {
    const folder = join(import.meta.dirname, '../../src/web/style')
    for (const name of await readdir(folder)) {
      const css = await readFile(join(folder, name), 'utf8')
      const elsewhere = css.replaceAll(/@media \(hover: hover\) \{.*?\n\}/gs, '')
      assert.doesNotMatch(elsewhere, /:hover/, name)
    }
  })

  it('have matching compressed versions, and hashed names unless the name is fixed', () => {
    for (const { path, bytes, brotli, immutable, type } of assets.values()) {
      if (brotli) assert.deepEqual(brotliDecompressSync(brotli), Buffer.from(bytes), path)
      assert.equal(immutable, /^\/assets\/.*-[\w-]{8}\.\w+$/.test(path), path)
      assert.notEqual(type, 'application/octet-stream', path)
    }
    for (const path of ['/favicon.ico', '/manifest.webmanifest', '/service-worker.js'])
      assert.ok(assets.has(path), path)
  })
})
