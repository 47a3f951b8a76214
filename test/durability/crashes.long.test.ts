/** Acknowledged uploads and deletions survive a kill. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { crashRounds } from '../support/crash-rounds.ts'

it('keeps every acknowledged change through ten kills under load', async () => {
  const figures = await crashRounds({ rounds: 10 })
  assert.ok(figures.uploads + figures.deletions >= 100, JSON.stringify(figures))
  assert.ok(figures.deletions > 0, 'some images were deleted')
  assert.ok(figures.cut > 0, 'some uploads were in flight at a kill')
})

it('keeps every acknowledged change through kills with two workers', async () => {
  const figures = await crashRounds({ rounds: 3, env: { WORKERS: '2' } })
  assert.ok(figures.uploads + figures.deletions >= 30, JSON.stringify(figures))
})
