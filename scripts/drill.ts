/** `npm run drill -- [ROUNDS] [NAME…]`: subjects the service to the faults of years of operation, and counts what it lost. */
import { DRILLS } from '../test/drills/all.ts'
import { isPassed } from '../test/drills/drill.ts'
import { readArguments } from './arguments.ts'

const { positionals } = readArguments('npm run drill -- [ROUNDS] [NAME…]', { allowPositionals: true })
const [first = '', ...more] = positionals
const rounds = /^\d+$/.test(first) ? Number(first) : 5
const names = (/^\d+$/.test(first) || first === '' ? more : [first, ...more]).join(' ')

process.stdout.write('| drill | acknowledged | lost | risen | errors | |\n|---|---|---|---|---|---|\n')
for (const drill of DRILLS.filter(({ name }) => name.includes(names))) {
  const skip = (await drill.skip?.()) ?? null
  if (skip !== null) {
    process.stdout.write(`| ${drill.name} | | | | | skipped: ${skip} |\n`)
    continue
  }
  const tally = await drill.run(rounds)
  const { acknowledged, lost, risen, errors, faults } = tally
  const verdict = isPassed(drill, tally) ? 'passed' : 'FAILED'
  if (verdict === 'FAILED') process.exitCode = 1
  process.stdout.write(`| ${drill.name} | ${acknowledged} | ${lost} | ${risen} | ${errors} | ${verdict} |\n`)
  for (const fault of faults) process.stderr.write(`  ${fault}\n`)
}
