/** How fast the page thinks that its uploads leave. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createThroughputMeter } from '../../src/web/browser/upload/throughput.ts'

function meter() {
  const clock = { now: 0 }
  return { clock, line: createThroughputMeter(() => clock.now) }
}

test('what left in the time that it took; nothing is known before', () => {
  const { clock, line } = meter()
  const usual = line.bytesPerSecond()
  const upload = line.begin()
  clock.now = 100
  upload.sent(150_000)
  assert.equal(line.bytesPerSecond(), usual)
  clock.now = 1000
  upload.sent(500_000)
  assert.equal(line.bytesPerSecond(), 500_000)
})

test('uploads at once share it, and a pause is no time', () => {
  const { clock, line } = meter()
  const [one, other] = [line.begin(), line.begin()]
  clock.now = 1000
  one.sent(300_000)
  other.sent(300_000)
  one.end()
  other.end()
  clock.now = 60_000
  const third = line.begin()
  clock.now = 61_000
  third.sent(600_000)
  assert.equal(line.bytesPerSecond(), 600_000)
})

test('a new try counts anew', () => {
  const { clock, line } = meter()
  const upload = line.begin()
  clock.now = 1000
  upload.sent(300_000)
  upload.sent(0)
  clock.now = 2000
  upload.sent(300_000)
  assert.equal(line.bytesPerSecond(), 300_000)
})

test('before the first upload it is as slow as what the page fetched last', (t) => {
  const { line } = meter()
  const usual = line.bytesPerSecond()
  const files = [
    { transferSize: 6000, encodedBodySize: 5600, responseStart: 0, responseEnd: 1 },
    { transferSize: 9000, encodedBodySize: 8600, responseStart: 100, responseEnd: 186 },
    // From the cache, and too small to say anything.
    { transferSize: 0, encodedBodySize: 20_000, responseStart: 200, responseEnd: 200 },
    { transferSize: 400, encodedBodySize: 100, responseStart: 200, responseEnd: 300 },
  ]
  const fetched = t.mock.method(performance, 'getEntriesByType', () => files as never)
  assert.equal(line.bytesPerSecond(), 100_000)
  files.splice(1, 1)
  assert.equal(line.bytesPerSecond(), usual)
  assert.equal(fetched.mock.calls[0]?.arguments[0], 'resource')
})
