/** Methods, paths and HEAD. */
import assert from 'node:assert/strict'
import { gif } from '../../support/images/tiny-images.ts'
import { formOf } from '../../support/multipart.ts'
import { isRefusedInFront, visitsTo, type World } from './host.ts'
import { stableHeaders } from './raw.ts'
import { checkProblem } from './rules.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'QUERY', 'TRACE']

export function pathCases(world: World): void {
  const onMain = visitsTo(world, world.main)

  onMain('returns 405 with Allow for other methods', async (me) => {
    const { id, key } = await me.store()
    const read = ['GET', 'HEAD']
    const routes: [path: string, allowed: string[]][] = [
      ['/api/upload', ['POST']],
      [`/api/delete?key=${key}`, [...read, 'DELETE']],
      ['/api/delete', [...read, 'DELETE']],
      ['/report', [...read, 'POST']],
      ['/api/report', ['POST']],
    ]
    const readOnly =
      '/ /raw/AAAAAAAAAAA /healthz /readyz /openapi.json /.well-known/api-catalog /api /tools /terms /transparency ' +
      `/rules /favicon.ico /.well-known/security.txt /receipt/${'0'.repeat(64)} /${id} /raw/${id} /raw/${id}.gif`
    for (const path of readOnly.split(' ')) routes.push([path, read])
    for (const [path, allowed] of routes) {
      for (const method of METHODS.filter((method) => !allowed.includes(method))) {
        if (isRefusedInFront(me.host, { method })) continue
        const answer = await me.request(method, path)
        checkProblem(answer, 405, 'method-not-allowed')
        const allow = answer.headers
          .get('Allow')
          ?.split(/, */)
          .filter((name) => name !== 'OPTIONS')
        assert.deepEqual(allow?.sort(), [...allowed].sort(), `${method} ${path}`)
        assert.equal(answer.headers.get('Cache-Control'), 'no-store')
      }
      if (!allowed.includes('HEAD')) assert.equal((await me.request('HEAD', path)).status, 405, path)
    }
    assert.equal((await me.get(`/raw/${id}`)).status, 200, 'the image is still there')
  })

  onMain('answers HEAD like GET without a body, wherever GET works', async (me) => {
    const { id, key } = await me.store()
    const gone = await me.store()
    await me.remove(gone.key)
    const images = [`/raw/${id}`, `/raw/${id}.gif`, `/raw/${id}?dl=1`]
    const pages = ['/', `/${id}`, `/${gone.id}`, '/AAAAAAAAAAA', '/a/b', '/healthz', '/readyz']
    pages.push(`/api/delete?key=${key}`, '/api/delete', `/raw/${id}?x`, `/raw/${gone.id}`)
    for (const path of [...images, ...pages]) {
      const [get, head] = [await me.get(path), await me.request('HEAD', path)]
      assert.equal(head.status, get.status, path)
      const [rest, headRest] = [comparable(get.headers), comparable(head.headers)]
      assert.deepEqual(headRest.others, rest.others, path)
      const mayBeOmitted = headRest.length === undefined && !images.includes(path)
      assert.ok(mayBeOmitted || headRest.length === rest.length, path)
    }
  })

  onMain('returns 404 for anything but the exact path', async (me) => {
    const { id } = await me.store()
    const ofImage =
      '/raw%2FID //raw/ID /raw//ID /raw/ID/ /ID/ //ID /RAW/ID /Raw/ID /raw/ID// /raw/ID%2F /ID%2F'
    const alike = '/raw/./ID/x /raw/ID/..%2f /ID.gif /ID.html /ID/raw /raw/ID;x=1 /ID;x /ID. /ID%00'
    const others =
      '/raw /raw/ /api/ /openapi /tools/ /api/Upload /API/upload /api/upload/ /api//upload /api/upload/x ' +
      '/api%2Fupload /healthz/ /HEALTHZ /Readyz /index.html /.env /..%2f..%2fetc%2fpasswd /%2e%2e/x /a/b/c ' +
      '/% /%E0%A4%A /%00 /assets/ /assets/..%2f..%2fpackage.json'
    const paths = `${ofImage} ${alike} ${others} /${'x'.repeat(4000)}`.replaceAll('ID', id).split(' ')
    for (const path of paths) {
      if (isRefusedInFront(me.host, { path })) continue
      const answer = await me.get(path)
      assert.equal(answer.status, 404, path)
      assert.match(answer.headers.get('Content-Type') ?? '', /^(application\/problem\+json|text\/html)/)
    }
    for (const path of ['/api/upload/', '/api/Upload', '//api/upload', '/api%2Fupload', '/upload']) {
      const { body, contentType } = formOf(gif())
      const answer = await me.request('POST', path, { headers: { 'Content-Type': contentType }, body })
      checkProblem(answer, 404, 'not-found')
    }
    for (const path of ['/api/nothing', '/api/delete/', '/api/Delete?key=x', '/api/delete/x']) {
      checkProblem(await me.get(path), 404, 'not-found')
    }
  })

  onMain('does not serve an image under an escaped path', async (me) => {
    const { id } = await me.store()
    const escaped = `%${id.charCodeAt(0).toString(16)}${id.slice(1)}`
    // The network in front resolves dot segments before the cache.
    const resolved = me.host.isEdge ? [] : [`/x/../raw/${id}`, `/raw/./${id}`, `/raw\\${id}`]
    for (const path of [`/raw/${escaped}`, `/%72aw/${id}`, ...resolved]) {
      const { status } = await me.get(path)
      assert.ok([400, 404, 308].includes(status), `${path} → ${status}`)
    }
  })

  onMain('does not expose the admin server', async (me) => {
    for (const path of '/metrics /login /login?token=x /acts /operator /settings /images'.split(' ')) {
      assert.equal((await me.get(path)).status, 404, path)
      assert.ok([404, 405].includes((await me.request('POST', path)).status), path)
    }
  })
}

/** The headers that GET and HEAD must share: all but the nonce and the framing of the body (RFC 9112, 6.1). */
function comparable(headers: Headers) {
  const {
    'content-security-policy': _,
    'content-length': length,
    'transfer-encoding': __,
    ...others
  } = stableHeaders(headers)
  return { length, others }
}
