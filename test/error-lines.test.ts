import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linesOf } from '../src/node/error-lines.ts'

test('names the reason of a connection that every address of a host refused', () => {
  const cause = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' })
  assert.deepEqual(linesOf(new Error('the ledger is unavailable', { cause })), [
    'the ledger is unavailable',
    'ECONNREFUSED',
  ])
})
