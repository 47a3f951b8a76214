/** Held images: the rows of `holds`, and the digests that uploads are compared with. */
import type { Absence, Digests, HoldLedger } from '../holds.ts'
import type { SqlDatabase, Statement } from './database.ts'
import { ALWAYS, list, type Part, sql } from './statement.ts'

/** No pending move of a later act ends the hold. */
export const IS_NOT_ENDING = sql`not exists (select 1 from moves where moves.id = holds.id and wanted <> 'held')`

/** How many images are held, without deleted ones. */
export const COUNT_HELD = sql`select count(*) as held from holds where gone = 0`

/** The image is held, or about to be. */
export function isHeld(id: string): Part {
  return sql`exists (select 1 from holds where id = ${id} and gone = 0 and ${IS_NOT_ENDING})`
}

/** Inserts or updates the hold of an image, if `condition` holds. */
export function holdRow(
  { id, at, rule, digests }: { id: string; at: number; rule: string; digests: Digests | null },
  condition = ALWAYS,
): Statement {
  return sql`insert into holds (id, held_at_ms, rule, sha256, sent_sha256, gone)
    select ${id}, ${at}, ${rule}, ${digests?.sha256 ?? ''}, ${digests?.sentSha256 ?? ''}, 0 where ${condition}
    on conflict (id) do update set rule = excluded.rule, gone = 0,
      sha256 = case when excluded.sha256 = '' then holds.sha256 else excluded.sha256 end,
      sent_sha256 = case when excluded.sha256 = '' then holds.sent_sha256 else excluded.sent_sha256 end`
}

/** Records that a held image is gone. A hold with digests continues. */
export function heldGone(id: string, condition = ALWAYS): Statement[] {
  return [
    sql`update holds set gone = 1 where id = ${id} and sha256 <> '' and ${condition}`,
    sql`delete from holds where id = ${id} and sha256 = '' and ${condition}`,
  ]
}

export function holdsLedger(database: SqlDatabase): HoldLedger {
  return {
    async absenceReason(id) {
      const [row] =
        await database.read<Absence>(sql`select 1 as rank, 'removed' as state, rule from removals where id = ${id}
        union all select 2 as rank, 'deleted' as state, '' as rule from deletions where id = ${id}
        union all select 3 as rank, 'held' as state, rule from holds where id = ${id} and gone = 0
        union all select 4 as rank, 'scanning' as state, '' as rule from scans where id = ${id} and is_hidden = 1
        union all select 5 as rank, 'scanning' as state, '' as rule from moves where id = ${id} and wanted = 'visible'
        order by rank limit 1`)
      return row === undefined ? null : { state: row.state, rule: row.rule }
    },

    async withheldReason(sha256) {
      const digests = list(sha256)
      const rows = await database.read(sql`select 1 as rank from blocks where sha256 in ${digests}
        union all select 2 as rank from holds where sha256 in ${digests} or sent_sha256 in ${digests}
        order by rank limit 1`)
      const rank = rows[0]?.rank
      if (rank === undefined) return null
      return rank === 1 ? 'blocked' : 'held'
    },

    async holdOf(id) {
      const [row] = await database.read<{ sha256: string; sent_sha256: string; gone: number }>(
        sql`select sha256, sent_sha256, gone from holds where id = ${id}`,
      )
      if (row === undefined) return null
      const { sha256, sent_sha256, gone } = row
      return { digests: sha256 === '' ? null : { sha256, sentSha256: sent_sha256 }, isGone: gone === 1 }
    },

    async heldCount() {
      const [row] = await database.read<{ held: number }>(COUNT_HELD)
      return row!.held
    },

    async heldIds(limit) {
      const rows = await database.read<{ id: string }>(
        sql`select id, held_at_ms from holds
          union all select id, since_ms from scans where is_hidden = 1
            and not exists (select 1 from holds where holds.id = scans.id)
          order by 2, 1 limit ${Math.max(0, limit)}`,
      )
      return rows.map(({ id }) => id)
    },

    async recordHeldDeleted(id) {
      await database.write(heldGone(id))
    },

    async heldWithoutDigests(limit, after = '') {
      const rows = await database.read<{ id: string }>(
        sql`select id from holds where sha256 = ''
          order by case when id > ${after} then 0 else 1 end, id limit ${Math.max(0, limit)}`,
      )
      return rows.map(({ id }) => id)
    },

    async recordHeldDigests(id, { sha256, sentSha256 }) {
      await database.write([
        sql`update holds set sha256 = ${sha256}, sent_sha256 = ${sentSha256} where id = ${id}`,
      ])
    },
  }
}
