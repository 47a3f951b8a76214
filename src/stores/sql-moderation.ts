/** What the operator removed and blocked, and the record of it. */
import type { Act, Ledger } from './ledger.ts'
import type { SqlDatabase } from './sql-database.ts'
import { statement, template } from './sql-statement.ts'

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
  const { queries, maxParameters } = database.flavour
  const tick = microseconds()

  const blocked = (sha256: readonly string[]) =>
    queries.selectFrom('blocks').select('sha256').where('sha256', 'in', sha256).limit(1)

  // What an upload asks: the digest as sent and as stored.
  const pairBlocked = template<{ sent: string; stored: string }>(({ sent, stored }) =>
    blocked([sent, stored]),
  )

  const removed = template<{ id: string }>(({ id }) =>
    queries.selectFrom('removals').select('id').where('id', '=', id),
  )

  function record({ act, subject, reason, at }: NewAct) {
    const row = {
      number: crypto.randomUUID(),
      at_ms: at.getTime(),
      recorded_us: tick(),
      act,
      subject,
      reason,
    }
    return statement(queries.insertInto('acts').values(row))
  }

  return {
    async isBlocked(sha256) {
      const [sent, stored = sent] = sha256
      if (sent === undefined || stored === undefined) return false
      if (sha256.length <= 2) {
        return (await database.read(pairBlocked({ sent, stored }))).rows.length > 0
      }
      for (let at = 0; at < sha256.length; at += maxParameters - 1) {
        const some = sha256.slice(at, at + maxParameters - 1)
        if ((await database.read(statement(blocked(some)))).rows.length > 0) return true
      }
      return false
    },

    async block(sha256, reason, at) {
      // In one order: two that block the same digests must not wait for each other's rows.
      const digests = [...new Set(sha256)].sort()
      if (digests.length === 0) return
      await database.write(
        digests.flatMap((digest) => [
          statement(
            queries
              .insertInto('blocks')
              .values({ sha256: digest, blocked_at_ms: at.getTime() })
              .onConflict((conflict) => conflict.column('sha256').doNothing()),
          ),
          record({ act: 'block', subject: digest, reason, at }),
        ]),
      )
    },

    async unblock(sha256, reason, at) {
      const [gone] = await database.write([
        statement(queries.deleteFrom('blocks').where('sha256', '=', sha256)),
        record({ act: 'unblock', subject: sha256, reason, at }),
      ])
      return gone!.changes > 0
    },

    async recordRemoval(id, reason, at) {
      await database.write([
        statement(
          queries
            .insertInto('removals')
            .values({ id, removed_at_ms: at.getTime() })
            .onConflict((conflict) => conflict.column('id').doNothing()),
        ),
        record({ act: 'remove', subject: id, reason, at }),
      ])
    },

    async isRemoved(id) {
      return (await database.read(removed({ id }))).rows.length > 0
    },

    async acts(limit) {
      const { rows } = await database.read(
        statement(
          queries
            .selectFrom('acts')
            .select(['at_ms', 'act', 'subject', 'reason'])
            .orderBy('at_ms', 'desc')
            .orderBy('recorded_us', 'desc')
            .limit(Math.max(0, limit)),
        ),
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
