/** The ledger on any database that runs the shared SQL. */

import { utcDayOf } from '../../utc-day.ts'
import { type Ledger, type LedgerCounts, LedgerUnavailable } from '../ledger.ts'
import { alertsLedger } from './active-alerts.ts'
import { auditLedger } from './audit-log.ts'
import { createCallTracker } from './calls.ts'
import type { SqlDatabase } from './database.ts'
import { decisionsLedger } from './decisions.ts'
import { expiriesLedger } from './expiries.ts'
import { COUNT_HELD, holdsLedger } from './holds.ts'
import { adminTokenLedger, instanceLedger, settingsLedger } from './instance.ts'
import { blocksLedger, movesLedger } from './moves.ts'
import { noticesLedger } from './notices.ts'
import type { PrivateTables } from './private.ts'
import { purgesLedger } from './purges.ts'
import { capacityLedger, quotaLedger } from './quota.ts'
import { reportsLedger } from './reports.ts'
import { scansLedger } from './scans.ts'
import { sql } from './statement.ts'
import { deletionsLedger, tombstonesLedger } from './tombstones.ts'
import { uploaderTagsLedger } from './uploader-tags.ts'

/** `join`: specific to the technology, which may know of other servers. */
export function sqlLedger(database: SqlDatabase, tables: PrivateTables, join: Ledger['join']): Ledger {
  const calls = createCallTracker()
  const instance = instanceLedger(database)
  const quota = quotaLedger(tables)
  // Not tracked as calls: these generators run for as long as their consumer takes.
  const { everyCase, ...reports } = reportsLedger(database, tables)
  const { everyAuditEntry, ...audit } = auditLedger(database)
  const methods = {
    ...quota,
    ...audit,
    ...blocksLedger(database),
    ...holdsLedger(database),
    ...movesLedger(database),
    ...settingsLedger(database),
    ...capacityLedger(tables),
    ...uploaderTagsLedger(tables),
    ...adminTokenLedger(database),
    ...purgesLedger(database),
    ...deletionsLedger(database),
    ...expiriesLedger(database),
    ...scansLedger(database),
    ...instance,
    ...reports,
    ...noticesLedger(database),
    ...alertsLedger(database),
    ...decisionsLedger(database),
    ...tombstonesLedger(database),

    async check() {
      const today = utcDayOf(Date.now())
      await instance.check()
      // Without it no upload is counted, and so none accepted.
      await quota.daySalt(today)
      // Upload counts may be in a separate database, which fails and recovers independently.
      const usage = await tables.existingUsageOf(today)
      if (usage !== null && usage !== database) await usage.write([])
    },

    async counts(): Promise<LedgerCounts> {
      const today = utcDayOf(Date.now())
      // Reads the table in one go: nearly all rows are today's, and SQLite would look up each of them in the index.
      const uploads = sql`select sum(used) as uploads from places where day || '' = ${today}`
      const used = await tables
        .existingUsageOf(today)
        .then((usage) => usage?.read(uploads))
        .catch((error) => {
          // SQLite can't open a file on a full disk. The other totals are in a file that is already open.
          if (error instanceof LedgerUnavailable) return null
          throw error
        })
      const [counts] = await database.read<Omit<LedgerCounts, 'uploadsToday'>>(sql`select
        (select count(*) from removals) as removals,
        (select count(*) from blocks) as blocks,
        (select count(*) from purges) as "pendingPurges",
        (${COUNT_HELD}) as held`)
      // A sum over no rows is null, and Postgres returns it as numeric, in text.
      return { uploadsToday: used === null ? null : Number(used?.[0]?.uploads ?? 0), ...counts! }
    },
  } satisfies Partial<Ledger>

  return {
    ...calls.wrap(methods),
    everyCase,
    everyAuditEntry,
    join,
    async close() {
      await calls.close()
      await Promise.all([database.close(), tables.close()])
    },
  }
}
