/** Drill: the clock of one of two servers is ten days fast. */
import { gif } from '../support/images/tiny-images.ts'
import { startLocalServer } from '../support/processes/local-server.ts'
import { startPostgres } from '../support/processes/postgres.ts'
import { post } from '../support/upload.ts'
import type { Drill, Tally } from './drill.ts'

const TEN_DAYS_MS = 10 * 86_400_000
const LIMIT = 5

export const fastClock: Drill = {
  name: 'fast clock',
  story:
    'The clock of one of two servers that share a ledger jumps ten days ahead and back. No address exceeds its daily limit.',
  mayFail: true,
  async run(rounds) {
    const postgres = await startPostgres()
    let offsetMs = 0
    const env = { LEDGER_URL: await postgres.createSchema(), UPLOADS_PER_DAY: `${LIMIT}` }
    const right = await startLocalServer(env, {})
    const wrong = await startLocalServer(env, { now: () => Date.now() + offsetMs }, right.dataDir)
    const tally: Tally = { acknowledged: 0, lost: 0, risen: 0, errors: 0, faults: [] }
    try {
      for (let round = 0; round < rounds; round++) {
        let stored = 0
        for (const offset of [0, TEN_DAYS_MS, 0]) {
          offsetMs = offset
          for (const { url } of [wrong, right, wrong, right, wrong, right]) {
            const { status } = await post(url, gif(), `198.51.${round % 250}.7`)
            if (status === 201) stored++
            else if (status !== 429) tally.errors++
          }
        }
        tally.acknowledged += stored
        if (stored !== LIMIT) tally.faults.push(`${stored} uploads, the limit is ${LIMIT}`)
      }
      return tally
    } finally {
      await wrong.stop()
      await right.stop()
      await postgres.destroy()
    }
  },
}
