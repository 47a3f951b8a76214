/**
 * Requests of an isolate never share promises: workerd cuts off the request of a disconnected client, and promises that it
 * awaited never settle. Here, calls of the first request to ledger and store hang from a given call on, and a second request
 * must still be answered.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { newId } from '../../src/service/images/ids.ts'
import { SEALED_RULE } from '../../src/service/moderation/evidence.ts'
import { gif } from '../support/images/tiny-images.ts'
import { until } from '../support/until.ts'
import { type HostHere, startHostHere } from '../support/worker/host-here.ts'

const IMAGE = gif()
const KEY = { 'Idempotency-Key': 'a-key-of-22-characters-or-more' }
const OPERATOR = {
  OPERATOR_URL: 'https://ops.pics.example',
  OPERATOR_TOKEN: 'a-token-of-more-than-24-characters',
}

const report = {
  image: 'AAAAAAAAAAA',
  category: 'other',
  text: 'This is a picture of my garden.',
  goodFaith: true,
}
const json = { 'Content-Type': 'application/json' }

/** Of another image each time: a removal waits for the lease of one that was cut off. */
const removal = () => ({
  on: 'takedown',
  call: 'remove',
  given: [newId(), 'a reason', { block: false, by: { who: 'me', rule: SEALED_RULE } }],
})

/** Requests that are sent twice, with their expected status. */
const REQUESTS: Record<string, [ask: (host: HostHere) => Promise<Response>, status: number]> = {
  'an upload': [({ upload }) => upload(IMAGE), 201],
  'an idempotent upload': [({ upload }) => upload(IMAGE, KEY), 201],
  'a request for an unknown image': [({ ask }) => ask('GET', '/raw/AAAAAAAAAAA'), 404],
  'a request for an unknown preview': [({ ask }) => ask('GET', '/preview/AAAAAAAAAAA'), 404],
  'a request for the next challenge': [({ ask }) => ask('GET', '/api/challenge'), 204],
  'a request for a pass challenge': [({ ask }) => ask('GET', '/api/challenge?for=pass'), 200],
  'a report': [({ ask }) => ask('POST', '/api/report', { headers: json, body: JSON.stringify(report) }), 404],
  'a deletion': [({ ask }) => ask('DELETE', `/api/delete?key=${'A'.repeat(43)}`), 404],
  'a removal that seals evidence': [
    ({ ask }) =>
      ask('POST', `${OPERATOR.OPERATOR_URL}/calls`, {
        headers: { ...json, Authorization: `Bearer ${OPERATOR.OPERATOR_TOKEN}` },
        body: JSON.stringify(removal()),
      }),
    200,
  ],
  'a readiness check': [({ ask }) => ask('GET', '/readyz'), 200],
}

/** Tracks the status of the response; `null` while it is pending. */
function statusOf(answer: Promise<Response>): { status: number | null } {
  const seen = { status: null as number | null }
  void answer.then(({ status }) => {
    seen.status = status
  })
  return seen
}

for (const [name, [ask, status]] of Object.entries(REQUESTS)) {
  it(`answers ${name} wherever an earlier one was cut off`, async (t) => {
    for (let step = 0; ; step++) {
      let left = step
      let isFirst = true
      const here = await startHostHere(t, {
        variables: { CHALLENGE: 'on', ...OPERATOR },
        waitsBehind: false,
        between: (port) =>
          new Proxy(port, {
            get(target, member) {
              const method = Reflect.get(target, member)
              if (typeof method !== 'function') return method
              return (...args: unknown[]) => {
                const answer = method.apply(target, args)
                return isFirst && answer instanceof Promise && left-- <= 0 ? new Promise(() => {}) : answer
              }
            },
          }),
      })
      const first = statusOf(ask(here))
      await until('the first request hangs or is answered', () => left < 0 || first.status !== null)
      isFirst = false
      const second = statusOf(ask(here))
      await until(
        `the second request is answered, after ${step} calls of the first`,
        () => second.status !== null,
      )
      assert.equal(second.status, status)
      if (first.status === null) continue
      assert.equal(first.status, status)
      assert.ok(step > 0, 'the request makes calls')
      return
    }
  })
}
