/** Absolute links, request IDs and health checks. `checkAnswer` covers the other rules for all responses. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { gif } from '../../support/images/tiny-images.ts'
import { type Visitor, visit, visitsTo, type World } from './host.ts'

export function allResponsesCases(world: World): void {
  const onMain = visitsTo(world, world.main)

  it('builds absolute links from the base URL only', async () => {
    for (const hostOf of [world.main, world.strict]) {
      const me = await visit(world, hostOf)
      const spoofed = {
        Host: 'evil.example',
        'X-Forwarded-Host': 'evil.example',
        'X-Forwarded-Proto': 'ftp',
        'X-Forwarded-Port': '81',
        Forwarded: 'host=evil.example;proto=ftp',
        'X-Original-URL': '/evil.example',
      }
      const answer = await me.upload(gif(), spoofed)
      assert.equal(answer.status, 201, answer.text)
      const { id, key, link, delete: address } = answer.json()
      assert.equal(link, `${me.host.baseUrl}/${id}`)
      assert.equal(address, `${me.host.baseUrl}/api/delete?key=${key}`)
      const others = [
        '/',
        `/${id}`,
        `/api/delete?key=${key}`,
        `/raw/${id}`,
        `/raw/${id}?x=1`,
        '/nowhere',
        '/raw/x',
      ]
      for (const path of others) checkNoMention(await me.get(path, spoofed), 'evil.example', path)
      checkNoMention(await me.upload(Buffer.from('x'), spoofed), 'evil.example', 'an error')
    }
  })

  onMain('reports that it is alive and ready', async (me) => {
    for (const path of ['/healthz', '/readyz']) {
      const answer = await me.get(path)
      assert.equal(answer.status, 200, answer.text)
      assert.equal(answer.headers.get('Cache-Control'), 'no-store')
    }
  })

  onMain('gives every response a unique request ID and ignores the client’s', async (me) => {
    const ids = new Set<string | null>()
    for (let i = 0; i < 5; i++) {
      const answer = await me.get('/healthz', { 'X-Request-Id': 'mine-mine-mine' })
      ids.add(answer.headers.get('X-Request-Id'))
    }
    assert.equal(ids.size, 5)
    assert.ok(!ids.has('mine-mine-mine'))
  })
}

function checkNoMention(answer: Awaited<ReturnType<Visitor['get']>>, what: string, where: string): void {
  const headers = [...answer.headers].join('\n')
  assert.ok(!`${headers}\n${answer.text}`.includes(what), where)
}
