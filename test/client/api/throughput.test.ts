/** Upload throughput meter. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createThroughputMeter, DEFAULT_RATE } from '../../../src/client/api/throughput.ts'
import { estimatedRate, prefetchesCodecs } from '../../../src/web/browser/upload/throughput.ts'

function setUp() {
  const clock = { now: 0 }
  return { clock, meter: createThroughputMeter({ now: () => clock.now }) }
}

test('returns the default rate until enough is sampled, then the measured rate', () => {
  const { clock, meter } = setUp()
  const defaultRate = meter.bytesPerSecond()
  const upload = meter.begin()
  clock.now = 100
  upload.sent(150_000)
  assert.equal(meter.bytesPerSecond(), defaultRate)
  clock.now = 1000
  upload.sent(500_000)
  assert.equal(meter.bytesPerSecond(), 500_000)
})

test('adds up concurrent uploads and ignores idle time', () => {
  const { clock, meter } = setUp()
  const [one, other] = [meter.begin(), meter.begin()]
  clock.now = 1000
  one.sent(300_000)
  other.sent(300_000)
  one.end()
  other.end()
  clock.now = 60_000
  const third = meter.begin()
  clock.now = 61_000
  third.sent(600_000)
  assert.equal(meter.bytesPerSecond(), 600_000)
})

test('counts retried bytes again', () => {
  const { clock, meter } = setUp()
  const upload = meter.begin()
  clock.now = 1000
  upload.sent(300_000)
  upload.sent(0)
  clock.now = 2000
  upload.sent(300_000)
  assert.equal(meter.bytesPerSecond(), 300_000)
})

test('is bounded by the last download before the first upload', (t) => {
  const meter = createThroughputMeter({ estimate: estimatedRate })
  assert.equal(meter.bytesPerSecond(), DEFAULT_RATE)
  const files = [
    { transferSize: 6000, encodedBodySize: 5600, responseStart: 0, responseEnd: 1 },
    { transferSize: 9000, encodedBodySize: 8600, responseStart: 100, responseEnd: 186 },
    // From the cache, and too small.
    { transferSize: 0, encodedBodySize: 20_000, responseStart: 200, responseEnd: 200 },
    { transferSize: 400, encodedBodySize: 100, responseStart: 200, responseEnd: 300 },
  ]
  const fetched = t.mock.method(performance, 'getEntriesByType', () => files as never)
  assert.equal(meter.bytesPerSecond(), 100_000)
  files.splice(1, 1)
  assert.equal(meter.bytesPerSecond(), DEFAULT_RATE)
  assert.equal(fetched.mock.calls[0]?.arguments[0], 'resource')
})

test('codecs are prefetched over a good line, unless the visitor saves data', (t) => {
  const file = { transferSize: 50_000, encodedBodySize: 49_000, responseStart: 0, responseEnd: 97 }
  const files = t.mock.method(performance, 'getEntriesByType', () => [file] as never)
  assert.equal(prefetchesCodecs(), true)
  file.responseEnd = 99
  assert.equal(prefetchesCodecs(), false)
  files.mock.restore()
  const connection = { downlink: 4, saveData: false }
  Object.defineProperty(navigator, 'connection', { value: connection, configurable: true })
  t.after(() => Reflect.deleteProperty(navigator, 'connection'))
  assert.equal(prefetchesCodecs(), true)
  connection.saveData = true
  assert.equal(prefetchesCodecs(), false)
  Object.assign(connection, { downlink: 3.9, saveData: false })
  assert.equal(prefetchesCodecs(), false)
})
