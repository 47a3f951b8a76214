/** Expiry of admin server sessions. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodeHashes } from '../../src/node/hashes.ts'
import { createAdminSessions } from '../../src/service/admin-sessions.ts'
import { ledgerOf } from '../support/ledger.ts'

const MINUTE_MS = 60_000

test('a login link expires after ten minutes, a session after half an hour idle or twelve hours in total', async (t) => {
  const ledger = await ledgerOf(t)
  let now = Date.parse('2026-07-31T12:00:00Z')
  const sessions = createAdminSessions({ ledger, hashes: nodeHashes, now: () => now, programToken: null })
  const logIn = async () =>
    (await sessions.login(await sessions.createLoginToken('ann@host'))) ?? assert.fail('login failed')
  const link = await sessions.createLoginToken('ann@host')
  now += 10 * MINUTE_MS
  assert.equal(await sessions.login(link), null)

  const idle = await logIn()
  now += 30 * MINUTE_MS - 1
  assert.equal((await sessions.session(idle))?.who, 'ann@host')
  now += 30 * MINUTE_MS
  assert.equal(await sessions.session(idle), null)

  const busy = await logIn()
  const endsAt = now + 12 * 60 * MINUTE_MS
  while (now + 20 * MINUTE_MS < endsAt) {
    now += 20 * MINUTE_MS
    assert.ok(await sessions.session(busy), new Date(now).toISOString())
  }
  now = endsAt
  assert.equal(await sessions.session(busy), null)
})

test('a new token for programs ends all sessions', async (t) => {
  const ledger = await ledgerOf(t)
  const sessionsWith = (programToken: string | null) =>
    createAdminSessions({ ledger, hashes: nodeHashes, now: () => 1, programToken })
  const [before, later] = [sessionsWith('leaked'), sessionsWith('new')]
  const session = (await before.login(await before.createLoginToken('ann@host')))!
  assert.ok(await before.session(session))
  assert.equal(await later.session(session), null)
  const link = await sessionsWith(null).createLoginToken('ann@host')
  assert.ok(await later.login(link), 'a command without the token makes links')
})
