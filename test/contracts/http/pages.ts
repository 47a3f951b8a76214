/** How pages are sent: compressed, unless a key is in them; and never kept where one is. */
import assert from 'node:assert/strict'
import { gunzipSync } from 'node:zlib'
import { gif } from '../../support/images/tiny-images.ts'
import { needsOwnCoding, visitsTo, type World } from './host.ts'
import { checkPage } from './rules.ts'

const UNKNOWN = `Zr4Kq9Lm2Xa${'k'.repeat(32)}`

export function pageCases(world: World): void {
  const codedHere = visitsTo(world, world.main, needsOwnCoding)
  const onMain = visitsTo(world, world.main)

  codedHere('sends pages compressed to whoever takes gzip, and plain to all others', async (me) => {
    const { id } = await me.store()
    for (const path of ['/', '/terms', `/${id}`, '/AAAAAAAAAAA']) {
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

  codedHere('neither compresses a page with a key in it, nor lets anything keep it', async (me) => {
    const { key } = await me.store()
    const ask = await me.get(`/api/delete?key=${key}`, { Accept: 'text/html', 'Accept-Encoding': 'gzip' })
    const result = await me.upload(gif(), { Accept: 'text/html,*/*;q=0.8', 'Accept-Encoding': 'gzip' })
    for (const answer of [ask, result]) {
      assert.match(answer.text, /[0-9A-Za-z]{43}/)
      assert.equal(answer.headers.get('Content-Encoding'), null)
      assert.equal(answer.headers.get('Cache-Control'), 'no-store')
    }
  })

  onMain('says at the delete link that the picture is gone, once it is', async (me) => {
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
}
