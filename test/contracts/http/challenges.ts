/** Proof of work before an upload, if the operator enabled it, and passes that replace it. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { solve as solveWithClient } from '../../../src/client/api/challenge.ts'
import { nodeHashes } from '../../../src/node/hashes.ts'
import { checkerOf, type Puzzle } from '../../../src/proof-of-work.ts'
import { type Challenge, type PassAnswer, UNCHALLENGED_UPLOADS } from '../../../src/protocol.ts'
import { createTokens } from '../../../src/service/challenge/tokens.ts'
import { IS_WHOLE } from '../../support/extent.ts'
import type { Answer } from '../../support/http.ts'
import { gif } from '../../support/images/tiny-images.ts'
import { type Visitor, visit, visitsTo, type World } from './host.ts'
import { checkPage, checkProblem } from './rules.ts'

const SOLUTION = 'Challenge-Solution'
const bearer = (pass: string) => ({ Authorization: `Bearer ${pass}` })

export function challengeCases(world: World): void {
  const onMain = visitsTo(world, world.main)
  const onChallenging = visitsTo(world, world.challenging)

  /** A visitor who has used up the uploads that need no challenge. */
  async function visitor(): Promise<Visitor> {
    const me = await visit(world, world.challenging)
    for (let i = 0; i < UNCHALLENGED_UPLOADS; i++) await me.store()
    return me
  }

  function challengeIn(answer: Answer): Challenge {
    checkProblem(answer, 403, 'challenge-required')
    const { challenge } = answer.json()
    assert.ok(Date.parse(challenge.expires) > Date.now())
    return challenge
  }

  async function stored(answer: Answer): Promise<void> {
    assert.equal(answer.status, 201, answer.text)
    world.keys.add(answer.json().key)
  }

  onMain('returns 404 for challenges and passes when challenges are disabled', async (me) => {
    for (const path of ['/api/challenge', '/api/challenge?for=pass', '/api/pass']) {
      checkProblem(await me.get(path), 404, 'not-found')
      checkProblem(await me.request('POST', path), 404, 'not-found')
    }
    checkPage(await me.get('/pass'), 404)
    for (let i = 0; i < UNCHALLENGED_UPLOADS; i++) await me.store()
    const shown: Record<string, string>[] = [{}, { [SOLUTION]: 'x' }, bearer('x')]
    for (const headers of shown) await stored(await me.upload(gif(), headers))
  })

  onChallenging(
    'accepts five uploads per address, then requires a solution per upload and accepts it once',
    async (me) => {
      const ask = () => me.get('/api/challenge', { Origin: 'https://friend.example' })
      for (let i = 0; i < UNCHALLENGED_UPLOADS; i++) {
        const next = await ask()
        assert.equal(next.status, 204)
        assert.equal(next.headers.get('Access-Control-Allow-Origin'), 'https://friend.example')
        await me.store()
      }
      const refused = await me.upload(gif())
      const first = challengeIn(refused)
      assert.equal(refused.headers.get('X-RateLimit-Remaining'), '95')
      checkPage(await me.upload(gif(), { Accept: 'text/html' }), 403)
      const next = await ask()
      assert.equal(next.status, 200, next.text)
      assert.notEqual(next.json().token, first.token)
      const solution = await solve(next.json())
      const visitors = [me, await visitor(), await visitor()]
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, i) => visitors[i % 3]!.upload(gif(), { [SOLUTION]: solution })),
      )
      const [only, ...more] = answers.filter(({ status }) => status === 201)
      assert.equal(more.length, 0)
      await stored(only!)
      for (const answer of answers) if (answer !== only) challengeIn(answer)
      const left = await Promise.all(visitors.map((each) => each.remaining()))
      assert.deepEqual(left.sort(), [94, 95, 95], 'a refused upload does not count')
      const preflight = await me.request('OPTIONS', '/api/upload', {
        headers: { Origin: 'https://friend.example' },
      })
      assert.match(
        preflight.headers.get('Access-Control-Allow-Headers') ?? '',
        /Authorization, Challenge-Solution/,
      )
    },
  )

  it('refuses forged solutions and passes', async () => {
    const me = await visitor()
    const challenge = challengeIn(await me.upload(gif()))
    const solution = await solve(challenge)
    const [token, answers] = solution.split(':') as [string, string]
    const elsewhere = createTokens({
      ledger: { daySalt: async () => new Uint8Array(32) },
      hashes: nodeHashes,
      now: Date.now,
    })
    const forged = [
      `${token}:${answers.replace(/\d/, (digit) => `${(Number(digit) + 1) % 10}`)}`,
      `${token.replace(/[^.]+$/, '0'.repeat(32))}:${answers}`,
      'x'.repeat(4000),
    ]
    for (const sent of forged) challengeIn(await me.upload(gif(), { [SOLUTION]: sent }))
    const pass = (await elsewhere.pass()).pass
    for (const sent of [pass, 'x', token]) challengeIn(await me.upload(gif(), bearer(sent)))
    assert.equal(await me.remaining(), 95)
    // The genuine solution is still unused.
    await stored(await me.upload(gif(), { [SOLUTION]: solution }))
  })

  it('counts an upload with an invalid solution or pass as refused, but not one without any', async () => {
    const me = await visitor()
    for (let i = 0; i < 35; i++) challengeIn(await me.upload(gif()))
    for (let i = 0; i < 30; i++) {
      challengeIn(await me.upload(gif(), i % 2 ? bearer('x') : { [SOLUTION]: 'x' }))
    }
    checkProblem(await me.upload(gif(), bearer('x')), 429, 'too-many-refusals')
  })

  onChallenging('issues a pass only for a solved pass challenge', async (me) => {
    const ask = (headers = {}) => me.request('POST', '/api/pass', { headers })
    const challenge = challengeIn(await ask())
    challengeIn(await ask({ [SOLUTION]: `${challenge.token}:0,0,0,0` }))
    checkProblem(
      await ask({ Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' }),
      403,
      'cross-site',
    )
    assert.equal((await me.get('/api/pass')).status, 405)
    assert.equal((await me.request('POST', '/pass')).status, 405)
  })

  onChallenging('issues a pass that is valid for uploads from any address', async (me) => {
    const solution = await solve((await me.get('/api/challenge?for=pass')).json())
    const answer = await me.request('POST', '/api/pass', { headers: { [SOLUTION]: solution } })
    assert.equal(answer.status, 201, answer.text)
    const { pass, uploads, expires }: PassAnswer = answer.json()
    world.keys.add(pass)
    assert.equal(uploads, 100)
    assert.ok(Math.abs((Date.parse(expires) - Date.now()) / 3_600_000 - 24) < 0.1)
    challengeIn(await me.request('POST', '/api/pass', { headers: { [SOLUTION]: solution } }))
    for (const each of [await visitor(), await visitor()]) {
      for (let i = 0; i < 2; i++) await stored(await each.upload(gif(), bearer(pass)))
      challengeIn(await each.upload(gif(), bearer(pass.replace(/.$/, (last) => (last === '0' ? '1' : '0')))))
      challengeIn(await each.upload(gif(), { Authorization: `Basic ${pass}` }))
    }
  })

  onChallenging('explains passes on a page in the visitor’s language', async (me) => {
    for (const [language, title] of [
      ['en', 'A pass for your tools'],
      ['de', 'Ein Pass für deine Programme'],
      ['fr', 'Un laissez-passer pour vos outils'],
    ] as const) {
      const answer = await me.get('/pass', { 'Accept-Language': language })
      checkPage(answer, 200)
      assert.ok(answer.text.includes(`<h1>${title}</h1>`), language)
    }
  })

  onChallenging('does not count refused uploads towards the first five, nor concurrent ones', async (me) => {
    for (let i = 0; i <= UNCHALLENGED_UPLOADS; i++) {
      checkProblem(await me.upload(Buffer.from('no image')), 415, 'unsupported-type')
    }
    const answers = await Promise.all(Array.from({ length: 12 }, () => me.upload(gif())))
    const refused = answers.filter(({ status }) => status !== 201)
    for (const answer of refused) challengeIn(answer)
    assert.equal(refused.length, 12 - UNCHALLENGED_UPLOADS)
    assert.equal(await me.remaining(), 100 - UNCHALLENGED_UPLOADS)
  })
}

/** Solves as the client does. Easy challenges (see `host.ts`) are hashed inline, without a thread pool task per attempt. */
async function solve(puzzle: Puzzle): Promise<string> {
  if (IS_WHOLE) return solveWithClient(puzzle)
  const isAnswer = await checkerOf(puzzle, nodeHashes.pbkdf2)
  const found: number[] = []
  for (let i = 0; i < puzzle.answers; i++) {
    let counter = 0
    while (!(await isAnswer(i, counter))) counter++
    found.push(counter)
  }
  return `${puzzle.token}:${found.join(',')}`
}
