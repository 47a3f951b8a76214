/** What the operator removed and blocked, and the record of it. */
import type { Act, Ledger } from '../ledger.ts'
import type { SqlDatabase, Statement } from './database.ts'
import { list, sql } from './statement.ts'

type ModerationLedger = Pick<
  Ledger,
  'isBlocked' | 'block' | 'unblock' | 'recordRemoval' | 'isRemoved' | 'acts'
>

interface NewAct {
  act: Act['act']
  subject: string
  reason: string
  at: Date
}

export function moderationLedger(database: SqlDatabase): ModerationLedger {
  const { maxParameters } = database.flavour
  const tick = microseconds()

  function record({ act, subject, reason, at }: NewAct): Statement {
    return sql`insert into acts (number, at_ms, recorded_us, act, subject, reason)
      values (${crypto.randomUUID()}, ${at.getTime()}, ${tick()}, ${act}, ${subject}, ${reason})`
  }

  return {
    async isBlocked(sha256) {
      for (let at = 0; at < sha256.length; at += maxParameters) {
        const some = list(sha256.slice(at, at + maxParameters))
        const { rows } = await database.read(sql`select sha256 from blocks where sha256 in ${some} limit 1`)
        if (rows.length > 0) return true
      }
      return false
    },

    async block(sha256, reason, at) {
      // In one order: two that block the same digests must not wait for each other's rows.
      const digests = [...new Set(sha256)].sort()
      if (digests.length === 0) return
      await database.write(
        digests.flatMap((digest) => [
          sql`insert into blocks (sha256, blocked_at_ms) values (${digest}, ${at.getTime()})
            on conflict (sha256) do nothing`,
          record({ act: 'block', subject: digest, reason, at }),
        ]),
      )
    },

    async unblock(sha256, reason, at) {
      const [gone] = await database.write([
        sql`delete from blocks where sha256 = ${sha256}`,
        record({ act: 'unblock', subject: sha256, reason, at }),
      ])
      return gone!.changes > 0
    },

    async recordRemoval(id, reason, at) {
      await database.write([
        sql`insert into removals (id, removed_at_ms) values (${id}, ${at.getTime()}) on conflict (id) do nothing`,
        record({ act: 'remove', subject: id, reason, at }),
      ])
    },

    async isRemoved(id) {
      return (await database.read(sql`select id from removals where id = ${id}`)).rows.length > 0
    },

    async acts(limit) {
      const { rows } = await database.read(
        sql`select at_ms, act, subject, reason from acts
          order by at_ms desc, recorded_us desc limit ${Math.max(0, limit)}`,
      )
      return rows.map(({ at_ms, act, subject, reason }) => ({
        at: new Date(at_ms as number).toISOString(),
        act: act as Act['act'],
        subject: subject as string,
        reason: reason as string,
      }))
    },
  }
}

/** A clock that never gives the same time twice. Unit: microseconds since the epoch. */
function microseconds(): () => number {
  let last = 0
  return () => {
    last = Math.max(last + 1, Math.floor((performance.timeOrigin + performance.now()) * 1000))
    return last
  }
}
