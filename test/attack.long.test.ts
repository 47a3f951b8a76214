/** Every route under every attack, for a moment each: what is held meanwhile, and that nothing is held afterwards. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Attack } from './support/attack/connection.ts'
import { descriptors, forgetPeak, peakMegabytes } from './support/attack/process-costs.ts'
import { targetsFor } from './support/attack/targets.ts'
import { WAYS } from './support/attack/ways.ts'
import { request } from './support/http.ts'
import { gif } from './support/images/tiny-images.ts'
import { startServer } from './support/processes/server.ts'
import { until } from './support/until.ts'
import { store } from './support/upload.ts'

const ATTACK_MS = 400
const MOST_MEGABYTES = 250
const LARGE_BYTES = 26_000_000
/** Others come from 127.0.0.1. A new one for each attack: some are shut out. */
let attackers = 0
const newAttacker = () => `127.0.1.${++attackers}`

const skip = process.platform !== 'linux' && 'what a process holds is known on Linux only'

describe('under attack', { skip }, () => {
  for (const [nth, { method, path }] of targetsFor({ smallId: '<small>', largeId: '<large>' }).entries()) {
    it(`holds little, and nothing afterwards: ${method} ${path}`, async (t) => {
      const server = await startServer({ TRUSTED_PROXIES: '' })
      t.after(() => server.stop())
      const [small, large] = [
        await store(server.url, gif()),
        await store(server.url, gif({ size: LARGE_BYTES })),
      ]
      assert.equal((await request(server.url, 'GET', `/raw/${large.id}`)).status, 200)
      const idle = descriptors(server.pid)
      const target = targetsFor({ smallId: small.id, largeId: large.id })[nth]!
      for (const way of WAYS) {
        forgetPeak(server.pid)
        const end = performance.now() + ATTACK_MS
        const attack: Attack = {
          host: '127.0.0.1',
          port: server.port,
          from: newAttacker(),
          isOver: () => performance.now() > end,
          sent: { bytes: 0, connections: 0 },
        }
        await way.run(attack, target)
        assert.ok(attack.sent.connections > 0, `${way.name}: it was attacked`)
        assert.equal((await request(server.url, 'GET', '/healthz')).status, 200, way.name)
        const peak = peakMegabytes(server.pid)
        assert.ok(peak <= MOST_MEGABYTES, `${way.name}: ${peak} MB`)
        await until(`${way.name}: all is let go`, () => descriptors(server.pid) <= idle + 1)
      }
    })
  }
})
