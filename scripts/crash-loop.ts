/**
 * Kills a server with `kill -9` in a loop, and verifies every acknowledgement after each kill:
 *
 *     node scripts/crash-loop.ts [rounds=200] [workers=1]
 */
import { crashRounds } from '../test/support/crash-rounds.ts'

const rounds = Number(process.argv[2] ?? 200)
const workers = process.argv[3] ?? '1'
const started = performance.now()

const figures = await crashRounds({
  rounds,
  env: { WORKERS: workers },
  onRound: (round, { uploads, deletions, cut }) => {
    if (round % 10 === 0)
      console.log(`${round} rounds: ${uploads} uploads, ${deletions} deletions, ${cut} cut`)
  },
})
const seconds = Math.round((performance.now() - started) / 1000)
console.log(`${JSON.stringify({ ...figures, workers, seconds })}\nEvery acknowledgement held.`)
