/**
 * Requests of one isolate share no promise: workerd cuts a request off whose client is gone, and what it waited for never settles.
 * Here the first request gets no answer from ledger and store, from any of its calls on, and the second must be answered.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
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

/** What is asked twice, and with what it is answered. */
const REQUESTS: Record<string, [ask: (host: HostHere) => Promise<Response>, status: number]> = {
  'an upload': [({ upload }) => upload(IMAGE), 201],
  'an upload that may be repeated': [({ upload }) => upload(IMAGE, KEY), 201],
  'a view of nothing': [({ ask }) => ask('GET', '/raw/AAAAAAAAAAA'), 404],
  'a preview of nothing': [({ ask }) => ask('GET', '/preview/AAAAAAAAAAA'), 404],
  'a question for a challenge': [({ ask }) => ask('GET', '/api/challenge'), 204],
  'a challenge': [({ ask }) => ask('GET', '/api/challenge?for=pass'), 200],
  'a report': [({ ask }) => ask('POST', '/api/report', { headers: json, body: JSON.stringify(report) }), 404],
  'a deletion': [({ ask }) => ask('DELETE', `/api/delete?key=${'A'.repeat(43)}`), 404],
  readiness: [({ ask }) => ask('GET', '/readyz'), 200],
}

/** `null` for as long as there is no answer. */
function answered(answer: Promise<Response>): { status: number | null } {
  const seen = { status: null as number | null }
  void answer.then(({ status }) => {
    seen.status = status
  })
  return seen
}

for (const [name, [ask, status]] of Object.entries(REQUESTS)) {
  it(`answers ${name} wherever another one was cut off`, async (t) => {
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
              return (...given: unknown[]) => {
                const answer = method.apply(target, given)
                return isFirst && answer instanceof Promise && left-- <= 0 ? new Promise(() => {}) : answer
              }
            },
          }),
      })
      const first = answered(ask(here))
      await until('it waits, or is answered', () => left < 0 || first.status !== null)
      isFirst = false
      const second = answered(ask(here))
      await until(`another one is answered, after ${step} answers to the first`, () => second.status !== null)
      assert.equal(second.status, status)
      if (first.status === null) continue
      assert.equal(first.status, status)
      assert.ok(step > 0, 'it asked for something')
      return
    }
  })
}
