/** Cross-site requests (Fetch Metadata) and allowed origins (CORS). */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { gif } from '../../support/images/tiny-images.ts'
import { visit, visitsTo, type World } from './host.ts'
import { checkPage, checkProblem } from './rules.ts'

const EVIL = 'https://evil.example'
const FRIEND = 'https://friend.example'

export function browserCases(world: World): void {
  const onMain = visitsTo(world, world.main)
  const onStrict = visitsTo(world, world.strict)

  const crossSite: Record<string, Record<string, string>> = {
    'a script on another site': { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'cors', Origin: EVIL },
    'a form on another site': { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', Origin: EVIL },
    'a hidden frame': { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors', Origin: 'null' },
    'another host of the same site': { 'Sec-Fetch-Site': 'same-site', Origin: EVIL },
    'another site without an Origin': { 'Sec-Fetch-Site': 'cross-site' },
    'an old browser on another site': { Origin: EVIL },
    'an old browser with an opaque origin': { Origin: 'null' },
  }
  for (const [name, headers] of Object.entries(crossSite)) {
    onMain(`refuses ${name} with 403 cross-site`, async (me) => {
      const answer = await me.upload(gif(), headers)
      checkProblem(answer, 403, 'cross-site')
      assert.equal(answer.headers.get('Access-Control-Allow-Origin'), null)
      assert.equal(await me.remaining(), 100)
      checkPage(await me.upload(gif(), { ...headers, Accept: 'text/html,*/*;q=0.8' }), 403)
    })
  }

  onMain('accepts uploads from its own pages and from non-browser clients', async (me) => {
    const own = new URL(me.host.baseUrl).origin
    const accepted: Record<string, string>[] = [
      {},
      { Origin: own },
      { 'Sec-Fetch-Site': 'same-origin', Origin: own },
      { 'Sec-Fetch-Site': 'same-origin' },
      { 'Sec-Fetch-Site': 'none' },
    ]
    for (const headers of accepted) assert.equal((await me.upload(gif(), headers)).status, 201)
  })

  onStrict('lets an allowed origin upload and read every response', async (me) => {
    const headers = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'cors', Origin: FRIEND }
    const answers = [
      await me.upload(gif(), headers),
      await me.upload(Buffer.from('no image'), headers),
      await me.upload(gif(), headers),
      await me.upload(gif(), headers),
    ]
    assert.deepEqual(
      answers.map(({ status }) => status),
      [201, 415, 201, 429],
    )
    for (const { headers } of answers) {
      assert.equal(headers.get('Access-Control-Allow-Origin'), FRIEND)
      assert.equal(headers.get('Access-Control-Allow-Credentials'), null)
      const exposed = listOf(headers, 'Access-Control-Expose-Headers')
      for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'retry-after']) {
        assert.ok(exposed.includes(name), `${name} in ${exposed}`)
      }
      assert.ok(listOf(headers, 'Vary').includes('origin'))
    }
  })

  it('refuses all other origins', async () => {
    for (const origin of [
      EVIL,
      'http://friend.example',
      `${FRIEND}.evil.example`,
      `${FRIEND}:8443`,
      'null',
    ]) {
      const me = await visit(world, world.strict)
      const answer = await me.upload(gif(), { 'Sec-Fetch-Site': 'cross-site', Origin: origin })
      checkProblem(answer, 403, 'cross-site')
      assert.equal(answer.headers.get('Access-Control-Allow-Origin'), null, origin)
    }
  })

  onStrict('answers CORS preflights of allowed origins only', async (me) => {
    const preflight = (origin: string) =>
      me.request('OPTIONS', '/api/upload', {
        headers: {
          Origin: origin,
          'Access-Control-Request-Method': 'POST',
          'Access-Control-Request-Headers': 'x-custom',
        },
      })
    const answer = await preflight(FRIEND)
    assert.ok([200, 204].includes(answer.status))
    assert.equal(answer.headers.get('Access-Control-Allow-Origin'), FRIEND)
    assert.ok(listOf(answer.headers, 'Access-Control-Allow-Methods').includes('post'))
    assert.ok(listOf(answer.headers, 'Vary').includes('origin'))
    assert.equal((await preflight(EVIL)).headers.get('Access-Control-Allow-Origin'), null)
  })
}

function listOf(headers: Headers, name: string): string[] {
  return (headers.get(name) ?? '').split(',').map((item) => item.trim().toLowerCase())
}
