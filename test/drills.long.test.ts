/** One round of each drill. `npm run drill` runs more of them; docs/drills.md has the results. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DRILLS } from './drills/all.ts'
import { isPassed } from './drills/drill.ts'

describe('drills', () => {
  for (const drill of DRILLS) {
    it(`${drill.name}: ${drill.story}`, async (t) => {
      const skip = (await drill.skip?.()) ?? null
      if (skip !== null) return t.skip(skip)
      const tally = await drill.run(1)
      assert.ok(isPassed(drill, tally), JSON.stringify(tally, null, 2))
    })
  }
})
