/**
 * Runs every attack against every route of one server, briefly: bounded memory during the attack, no leaked resources
 * afterwards.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Attack } from './support/attack/connection.ts'
import { descriptors, peakMegabytes, resetPeak } from './support/attack/process-costs.ts'
import { EVERY_ROUTE } from './support/attack/routes.ts'
import { NOTHING_STORED, type Stored, type Target, targetsFor } from './support/attack/targets.ts'
import { WAYS, type Way } from './support/attack/ways.ts'
import { request } from './support/http.ts'
import { gif } from './support/images/tiny-images.ts'
import { type RunningServer, startServer } from './support/processes/server.ts'
import { until } from './support/until.ts'
import { store } from './support/upload.ts'

const ATTACK_MS = 250
const MAX_MEGABYTES = 250
const LARGE_BYTES = 26_000_000
/** Regular requests come from 127.0.0.1. Each attack uses a new address, with a quota and budgets of its own. */
let attackers = 0
const newAttacker = () => `127.0.${1 + (++attackers >> 8)}.${attackers & 255}`

const skip = process.platform !== 'linux' && 'needs /proc'

describe('under attack', { skip }, () => {
  let server: RunningServer
  let stored: Stored
  let idle: number

  before(async () => {
    server = await startServer({ TRUSTED_PROXIES: '', ...EVERY_ROUTE })
    stored = {
      baseUrl: server.baseUrl,
      smallId: (await store(server.url, gif())).id,
      largeId: (await store(server.url, gif({ size: LARGE_BYTES }))).id,
      assetPath: /\/assets\/[^"]+\.js/.exec((await request(server.url, 'GET', '/')).text)![0],
    }
    assert.equal((await request(server.url, 'GET', `/raw/${stored.largeId}`)).status, 200)
    idle = descriptors(server.pid)
  })
  after(() => server?.stop())

  /** Unit: megabytes. */
  async function peakUnder(way: Way, target: Target): Promise<number> {
    resetPeak(server.pid)
    const end = performance.now() + ATTACK_MS
    const attack: Attack = {
      port: server.port,
      adminPath: join(server.dataDir, 'operator.sock'),
      from: newAttacker(),
      isOver: () => performance.now() > end,
      sent: { bytes: 0, connections: 0 },
    }
    await way.run(attack, target)
    assert.ok(attack.sent.connections > 0, `${way.name}: the attack made connections`)
    // Generous, as the machine is busy with the attack. A lost request is cut off earlier.
    const { status } = await request(server.url, 'GET', '/healthz', { timeoutMs: 60_000 })
    assert.equal(status, 200, way.name)
    return peakMegabytes(server.pid)
  }

  for (const [index, { method, path, isAtAdmin }] of targetsFor(NOTHING_STORED).entries()) {
    it(`bounds memory and releases everything: ${method} ${path}${isAtAdmin ? ', operator' : ''}`, async () => {
      const target = targetsFor(stored)[index]!
      for (const way of WAYS) {
        const peaks: number[] = []
        do peaks.push(await peakUnder(way, target))
        while (
          // On a busy machine, garbage of an earlier attack may be collected late; memory that is held is there every time.
          peaks.at(-1)! > MAX_MEGABYTES &&
          peaks.length < 3
        )
        assert.ok(peaks.at(-1)! <= MAX_MEGABYTES, `${way.name}: ${peaks} MB`)
        await until(`${way.name}: all descriptors are released`, () => descriptors(server.pid) <= idle + 1)
      }
    })
  }
})
