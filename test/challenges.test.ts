/** Challenges and passes with several servers on one ledger, using a fake clock. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { solve } from '../src/client/api/challenge.ts'
import { Refusal } from '../src/errors.ts'
import { nodeHashes as hashes } from '../src/node/hashes.ts'
import { checkerOf } from '../src/proof-of-work.ts'
import { type Challenge, PASS_UPLOADS, UNCHALLENGED_UPLOADS } from '../src/protocol.ts'
import {
  type Challenges,
  type Credentials,
  createChallenges,
  WORK,
} from '../src/service/challenge/challenges.ts'
import { CHALLENGE_SECONDS, createTokens, PASS_SECONDS } from '../src/service/challenge/tokens.ts'
import { createUploadRate, ON_MS } from '../src/service/challenge/upload-rate.ts'
import type { ChallengeMode, SettingValues } from '../src/service/settings.ts'
import type { Ledger } from '../src/stores/ledger.ts'
import { extent } from './support/extent.ts'
import { folderOf } from './support/folder.ts'
import { ledgerOf } from './support/ledger.ts'

const EASY = { iterations: 1, bits: 2, answers: 2 }
const NOON = Date.parse('2026-07-31T12:00:00Z')
const CHALLENGED = UNCHALLENGED_UPLOADS + 1

interface Scene {
  clock: { now: number }
  ledger: Ledger
  /** Adds a server on the same ledger. */
  server(mode?: ChallengeMode, perHour?: number): Promise<Challenges & { exceeded(): number }>
}

async function sceneFor(t: TestContext): Promise<Scene> {
  const folder = await folderOf(t)
  const clock = { now: NOON }
  return {
    clock,
    ledger: await ledgerOf(t, folder),
    async server(mode = 'on', perHour = 0) {
      const ledger = await ledgerOf(t, folder)
      let exceeded = 0
      const now = () => clock.now
      const rate = createUploadRate({
        ledger,
        now,
        perHour: () => perHour,
        onExceeded: () => exceeded++,
        onFailure: assert.ifError,
      })
      const settings = { current: () => ({ challenge: mode }) as SettingValues }
      const work = { upload: EASY, pass: EASY }
      const challenges = createChallenges({ ledger, settings, rate, hashes, now, work })
      return { ...challenges, exceeded: () => exceeded }
    },
  }
}

async function solved(server: Challenges): Promise<string> {
  return solve((await server.next(UNCHALLENGED_UPLOADS))!)
}

async function passOf(server: Challenges): Promise<string> {
  return (await server.issuePass(await solve(await server.forPass()))).pass
}

/** Whether an upload with these credentials is accepted. */
async function passes(server: Challenges, shown: Credentials, used = CHALLENGED): Promise<boolean> {
  try {
    await server.assertPresent(shown, async () => used - 1)
    await server.spend(shown, used)
    return true
  } catch (error) {
    assert.ok(error instanceof Refusal && error.code === 'challenge-required', String(error))
    assert.ok(error.challenge, 'the refusal contains a challenge')
    return false
  }
}

test('accepts a solution once, on any server, until it expires', async (t) => {
  const { server, clock } = await sceneFor(t)
  const [one, two] = [await server(), await server()]
  const solution = await solved(one)
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => passes(index % 2 ? one : two, { solution })),
  )
  assert.equal(answers.filter(Boolean).length, 1)
  const [early, late] = [await solved(one), await solved(one)]
  clock.now += CHALLENGE_SECONDS * 1000 - 1000
  assert.equal(await passes(two, { solution: early }), true)
  clock.now += 1000
  assert.equal(await passes(two, { solution: late }), false)
  assert.equal(await passes(two, { solution: early }), false)
})

test('accepts a solution across midnight, and never again, even when past days are erased', async (t) => {
  const { server, clock, ledger } = await sceneFor(t)
  clock.now = Date.parse('2026-07-31T23:59:50Z')
  const one = await server()
  const solution = await solved(one)
  clock.now = Date.parse('2026-08-01T00:00:10Z')
  assert.equal(await passes(one, { solution }), true)
  await ledger.eraseDaysBefore('2026-08-01', '2026-08-02')
  assert.equal(await passes(await server(), { solution }), false)
})

test('accepts a pass for exactly its number of uploads, concurrently on several servers', async (t) => {
  const { server, clock } = await sceneFor(t)
  const servers = [await server(), await server()]
  const pass = await passOf(servers[0]!)
  const answers = await Promise.all(
    Array.from({ length: PASS_UPLOADS + 20 }, (_, index) => passes(servers[index % 2]!, { pass })),
  )
  assert.equal(answers.filter(Boolean).length, PASS_UPLOADS)

  const other = await passOf(servers[0]!)
  for (let count = 0; count < PASS_UPLOADS; count++) {
    const spent = await servers[0]!.spend({ pass: other }, CHALLENGED)
    // Nothing was stored.
    if (count === 7) spent.release()
  }
  await servers[0]!.stop()
  assert.equal(await passes(servers[1]!, { pass: other }), true)
  assert.equal(await passes(servers[1]!, { pass: other }), false)

  const last = await passOf(servers[0]!)
  clock.now += PASS_SECONDS * 1000 - 1000
  assert.equal(await passes(servers[1]!, { pass: last }), true)
  clock.now += 1000
  assert.equal(await passes(servers[1]!, { pass: last }), false)
})

test('does not spend credentials on uploads that need none', async (t) => {
  const { server } = await sceneFor(t)
  const one = await server()
  const [solution, pass] = [await solved(one), await passOf(one)]
  for (let used = 1; used <= UNCHALLENGED_UPLOADS; used++) {
    for (const shown of [{}, { solution }, { pass }, { solution: 'x' }]) {
      assert.equal(await passes(one, shown, used), true)
    }
  }
  assert.equal(await passes(one, {}), false)
  assert.equal(await passes(await server('off'), {}), true)
  assert.equal(await passes(one, { solution }), true)
})

test('rejects tokens with a changed character, or signed with another ledger', async (t) => {
  const { server } = await sceneFor(t)
  const one = await server()
  const [solution, pass] = [await solved(one), await passOf(one)]
  const [token, counters] = solution.split(':') as [string, string]
  const character = fc.constantFrom(...'0123456789abcdef.,:-xÄ\n')
  await fc.assert(
    fc.asyncProperty(fc.nat(token.length - 1), character, fc.boolean(), async (at, to, isPass) => {
      const text = isPass ? pass : token
      const changed = text.slice(0, at) + to + text.slice(at + 1)
      fc.pre(changed !== text)
      const shown = isPass ? { pass: changed } : { solution: `${changed}:${counters}` }
      assert.equal(await passes(one, shown), false, changed)
    }),
    { numRuns: extent(2000, 200) },
  )
  const { server: elsewhere } = await sceneFor(t)
  const other = await elsewhere()
  for (const shown of [{ solution: await solved(other) }, { pass: await passOf(other) }]) {
    assert.equal(await passes(one, shown), false)
  }
  // The originals are still valid.
  assert.equal(await passes(one, { solution }), true)
  assert.equal(await passes(one, { pass }), true)
})

test('rejects solutions for the wrong purpose, and malformed answers', async (t) => {
  const { server } = await sceneFor(t)
  const one = await server()
  assert.equal(await passes(one, { solution: await solve(await one.forPass()) }), false)
  await assert.rejects(one.issuePass(await solved(one)), Refusal)
  await assert.rejects(one.issuePass(undefined), Refusal)
  const challenge = (await one.next(UNCHALLENGED_UPLOADS))!
  const isAnswer = await checkerOf(challenge)
  const beyond = [2 ** 32, 2 ** 32]
  for (const index of beyond.keys()) while (!(await isAnswer(index, beyond[index]!))) beyond[index]!++
  assert.equal(
    await passes(one, { solution: `${challenge.token}:${beyond}` }),
    false,
    'answers, but too large',
  )
  const used = await solved(one)
  for (const counters of ['', '0', '99999999999,1', '-1,0', '0,0,0', '1e3,0', '0x1,0']) {
    assert.equal(await passes(one, { solution: `${used.split(':')[0]}:${counters}` }), false, counters)
  }
})

test('limits verification to one check without work, and consumes the challenge at the first correct answer', async (t) => {
  const { server } = await sceneFor(t)
  const one = await server()
  let checks = 0
  const { pbkdf2 } = hashes
  t.mock.method(hashes, 'pbkdf2', async (password: string) => {
    const derive = await pbkdf2(password)
    return (salt: string, iterations: number) => {
      checks++
      return derive(salt, iterations)
    }
  })
  const cases: [create: () => Promise<Challenge>, submit: (solution: string) => Promise<boolean>][] = [
    [async () => (await one.next(UNCHALLENGED_UPLOADS))!, (solution) => passes(one, { solution })],
    [
      one.forPass,
      (solution) =>
        one.issuePass(solution).then(
          () => true,
          () => false,
        ),
    ],
  ]
  for (const [create, submit] of cases) {
    const challenge = await create()
    const [, right] = (await solve(challenge)).split(':') as [string, string]
    const [first, second] = right.split(',').map(Number) as [number, number]
    const isAnswer = await checkerOf(challenge)
    const wrong = async (index: number) => {
      for (let counter = 0; ; counter++) if (!(await isAnswer(index, counter))) return counter
    }
    const [notFirst, notSecond] = [await wrong(0), await wrong(1)]
    const costOf = async (...counters: number[]) => {
      const before = checks
      assert.equal(await submit(`${challenge.token}:${counters}`), false)
      return checks - before
    }
    for (let count = 0; count < 5; count++) assert.equal(await costOf(notFirst, second), 1)
    assert.equal(await costOf(first, notSecond), 2)
    for (const counters of [
      [first, notSecond],
      [first, second],
    ])
      assert.equal(await costOf(...counters), 1, 'the challenge is used up')
  }
})

test('only ever reads the salts of today and tomorrow, whatever a token contains', async () => {
  const days: string[] = []
  const daySalt = async (day: string) => {
    days.push(day)
    return new Uint8Array(32)
  }
  const tokens = createTokens({ ledger: { daySalt }, hashes, now: () => NOON })
  const { pass } = await tokens.pass()
  for (const seconds of [0, 1, NOON / 1000, NOON / 1000 + PASS_SECONDS + 1, 99_999_999_999]) {
    const expires = `${seconds}`.padStart(10, '0')
    assert.equal(await tokens.readPass(pass.replace(/\.\d+\./, `.${expires}.`)), null)
  }
  assert.deepEqual(days, ['2026-08-01'])
  assert.notEqual(await tokens.readPass(pass), null)
})

test('turns challenges on for all servers when their combined rate is exceeded, and off again', async (t) => {
  const { server, clock, ledger } = await sceneFor(t)
  // 400 an hour: a burst of 100, and one every 9 seconds.
  const servers = [await server('auto', 400), await server('auto', 400)]
  const flush = () => Promise.all(servers.map((running) => running.stop()))
  const upload = async (index: number) => passes(servers[index % 2]!, {})
  for (let index = 0; index < 100; index++) assert.equal(await upload(index), true, `${index}`)
  await flush()
  assert.equal(await upload(0), true, 'the upload that exceeds the rate')
  await flush()
  // The other server notices within seconds.
  clock.now += 5000
  for (const index of [0, 1]) assert.equal(await upload(index), false)
  assert.equal(await passes(servers[1]!, { solution: await solved(servers[0]!) }), true)
  assert.equal(servers[0]!.exceeded() + servers[1]!.exceeded(), 1)
  clock.now += ON_MS
  for (let index = 0; index < 50; index++) assert.equal(await upload(index), true, 'challenges are off again')
  await flush()
  assert.equal(servers[0]!.exceeded() + servers[1]!.exceeded(), 1)
  // Set by a server whose clock was ahead.
  await ledger.writeFacts({ 'challenges.until': `${clock.now + 100 * ON_MS}` }, { replace: true })
  clock.now += 5000
  assert.equal(await upload(0), true)
  await flush()
  // A steady rate below the limit never turns challenges on.
  for (let index = 0; index < 200; index++) {
    clock.now += 10_000
    assert.equal(await upload(index), true)
    await flush()
  }
  // Without a limit, they are never turned on.
  const unlimited = await server('auto', 0)
  for (let count = 0; count < 300; count++) assert.equal(await passes(unlimited, {}), true)
  await unlimited.stop()
})

test('makes solving thousands of times as costly as verifying, and a ledger row cost 1,000 attempts', () => {
  for (const { bits, answers } of Object.values(WORK)) {
    assert.ok(answers >= 2 && answers * 2 ** bits >= 2 * 4000)
    assert.ok(2 ** bits >= 1000)
  }
})
