/** Methods, paths and HEAD. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { gif } from '../../support/images/tiny-images.ts'
import { formOf } from '../../support/multipart.ts'
import { isRefusedInFront, type Upload, visit, type World } from './host.ts'
import { steady } from './raw.ts'
import { checkProblem } from './rules.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'QUERY', 'TRACE']

export function pathCases(world: World): void {
  const routes: [path: (upload: Upload) => string, allowed: string[]][] = [
    [() => '/api/upload', ['POST']],
    [({ key }) => `/api/delete?key=${key}`, ['GET', 'HEAD', 'DELETE']],
    [() => '/api/delete', ['GET', 'HEAD', 'DELETE']],
    [({ id }) => `/${id}`, ['GET', 'HEAD']],
    [({ id }) => `/raw/${id}`, ['GET', 'HEAD']],
    [({ id }) => `/raw/${id}.gif`, ['GET', 'HEAD']],
    [() => '/raw/AAAAAAAAAAA', ['GET', 'HEAD']],
    [() => '/', ['GET', 'HEAD']],
    [() => '/healthz', ['GET', 'HEAD']],
    [() => '/readyz', ['GET', 'HEAD']],
    [() => '/openapi.json', ['GET', 'HEAD']],
    [() => '/.well-known/api-catalog', ['GET', 'HEAD']],
    [() => '/api', ['GET', 'HEAD']],
    [() => '/tools', ['GET', 'HEAD']],
    [() => '/terms', ['GET', 'HEAD']],
    [() => '/report', ['GET', 'HEAD', 'POST']],
    [() => '/api/report', ['POST']],
    [() => `/receipt/${'0'.repeat(64)}`, ['GET', 'HEAD']],
    [() => '/transparency', ['GET', 'HEAD']],
    [() => '/rules', ['GET', 'HEAD']],
    [() => '/.well-known/security.txt', ['GET', 'HEAD']],
  ]
  for (const [pathOf, allowed] of routes) {
    it(`answers 405 with Allow: ${allowed} at ${pathOf({ id: '<id>', key: '<key>' } as Upload)}`, async () => {
      const me = await visit(world, world.main)
      const upload = await me.store()
      const path = pathOf(upload)
      for (const method of METHODS.filter((method) => !allowed.includes(method))) {
        if (isRefusedInFront(me.host, { method })) continue
        const answer = await me.request(method, path)
        checkProblem(answer, 405, 'method-not-allowed')
        const allow = answer.headers
          .get('Allow')
          ?.split(/, */)
          .filter((name) => name !== 'OPTIONS')
        assert.deepEqual(allow?.sort(), [...allowed].sort(), method)
        assert.equal(answer.headers.get('Cache-Control'), 'no-store')
      }
      if (!allowed.includes('HEAD')) assert.equal((await me.request('HEAD', path)).status, 405)
      assert.equal((await me.get(`/raw/${upload.id}`)).status, 200, 'the image is still there')
    })
  }

  it('answers HEAD as GET without a body, wherever GET works', async () => {
    const me = await visit(world, world.main)
    const { id, key } = await me.store()
    const gone = await me.store()
    await me.remove(gone.key)
    const paths = ['/', `/${id}`, `/raw/${id}`, `/raw/${id}.gif`, `/raw/${id}?dl=1`, `/raw/${id}?x`]
    paths.push(
      `/api/delete?key=${key}`,
      '/api/delete',
      '/healthz',
      '/readyz',
      `/${gone.id}`,
      `/raw/${gone.id}`,
      '/a/b',
    )
    for (const path of paths) {
      const [get, head] = [await me.get(path), await me.request('HEAD', path)]
      assert.equal(head.status, get.status, path)
      const [rest, headRest] = [told(get.headers), told(head.headers)]
      assert.deepEqual(headRest.others, rest.others, path)
      assert.ok(headRest.length === undefined || headRest.length === rest.length, path)
    }
  })

  it('knows no address but the exact one: 404', async () => {
    const me = await visit(world, world.main)
    const { id } = await me.store()
    const paths = [
      `/raw%2F${id}`,
      `//raw/${id}`,
      `/raw//${id}`,
      `/raw/${id}/`,
      `/${id}/`,
      `//${id}`,
      `/RAW/${id}`,
    ]
    paths.push(
      `/Raw/${id}`,
      `/raw/${id}//`,
      `/raw/${id}%2F`,
      `/${id}%2F`,
      `/raw/./${id}/x`,
      `/raw/${id}/..%2f`,
    )
    paths.push(
      `/${id}.gif`,
      `/${id}.html`,
      `/${id}/raw`,
      `/raw`,
      '/raw/',
      `/raw/${id};x=1`,
      `/${id};x`,
      `/${id}.`,
    )
    paths.push(
      '/api/',
      '/openapi',
      '/tools/',
      '/api/Upload',
      '/API/upload',
      '/api/upload/',
      '/api//upload',
      '/api/upload/x',
      '/api%2Fupload',
    )
    paths.push(
      '/healthz/',
      '/HEALTHZ',
      '/Readyz',
      '/index.html',
      '/.env',
      '/..%2f..%2fetc%2fpasswd',
      '/%2e%2e/x',
      '/a/b/c',
    )
    paths.push(
      '/%',
      '/%E0%A4%A',
      '/%00',
      `/${id}%00`,
      `/${'x'.repeat(4000)}`,
      '/assets/',
      '/assets/..%2f..%2fpackage.json',
    )
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

  it('makes no further copy of an image under an escaped address', async () => {
    const me = await visit(world, world.main)
    const { id } = await me.store()
    const escaped = `%${id.charCodeAt(0).toString(16)}${id.slice(1)}`
    // One address by then, for caches too.
    const resolved = me.host.isEdge ? [] : [`/x/../raw/${id}`, `/raw/./${id}`, `/raw\\${id}`]
    for (const path of [`/raw/${escaped}`, `/%72aw/${id}`, ...resolved]) {
      const { status } = await me.get(path)
      assert.ok([400, 404, 308].includes(status), `${path} → ${status}`)
    }
  })

  it('knows nothing of what is of the admin server', async () => {
    const me = await visit(world, world.main)
    for (const path of [
      '/metrics',
      '/login',
      '/login?token=x',
      '/acts',
      '/operator',
      '/settings',
      '/images',
    ]) {
      assert.equal((await me.get(path)).status, 404, path)
      assert.ok([404, 405].includes((await me.request('POST', path)).status), path)
    }
  })
}

/** What GET and HEAD must say alike: they may differ in the nonce, and in what is of the body's framing (RFC 9112, 6.1). */
function told(headers: Headers) {
  const {
    'content-security-policy': _,
    'content-length': length,
    'transfer-encoding': __,
    ...others
  } = steady(headers)
  return { length, others }
}
