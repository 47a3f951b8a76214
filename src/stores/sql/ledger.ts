/** The ledger over any database that runs the shared SQL. */
import { type Ledger, type LedgerCounts, LedgerUnavailable } from '../ledger.ts'
import { alertsLedger } from './active-alerts.ts'
import { auditLedger } from './audit-log.ts'
import { createCalls } from './calls.ts'
import type { SqlDatabase } from './database.ts'
import { decisionsLedger } from './decisions.ts'
import { expiriesLedger } from './expiries.ts'
import { holdsLedger } from './holds.ts'
import { adminTokenLedger, instanceLedger, settingsLedger } from './instance.ts'
import { blocksLedger, movesLedger } from './moves.ts'
import { noticesLedger } from './notices.ts'
import { dayOf, type PrivateTables } from './private.ts'
import { purgesLedger } from './purges.ts'
import { capacityLedger, quotaLedger } from './quota.ts'
import { reportsLedger } from './reports.ts'
import { scansLedger } from './scans.ts'
import { sql } from './statement.ts'
import { deletionsLedger, tombstonesLedger } from './tombstones.ts'
import { uploaderTagsLedger } from './uploader-tags.ts'

/** `join`: what the technology knows of other servers. */
export function sqlLedger(database: SqlDatabase, tables: PrivateTables, join: Ledger['join']): Ledger {
  const calls = createCalls()
  const instance = instanceLedger(database)
  // Not counted as calls: these generators run for as long as their reader takes.
  const { everyCase, ...reports } = reportsLedger(database, tables)
  const { everyAuditEntry, ...audit } = auditLedger(database)
  const methods = {
    ...quotaLedger(tables),
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
      await instance.check()
      // Uploads are counted there. Where it is a database of its own, it fails and recovers apart.
      const usage = await tables.ifThere(dayOf(Date.now()))
      if (usage !== null && usage !== database) await usage.write([])
    },

    async counts(): Promise<LedgerCounts> {
      const today = dayOf(Date.now())
      const used = await tables
        .ifThere(today)
        .then((usage) => usage?.read(sql`select sum(used) as uploads from places where day = ${today}`))
        .catch((error) => {
          // SQLite opens no file on a full disk. The rest is in one that is open.
          if (error instanceof LedgerUnavailable) return null
          throw error
        })
      const [counts] = await database.read<Omit<LedgerCounts, 'uploadsToday'>>(sql`select
        (select count(*) from removals) as removals,
        (select count(*) from blocks) as blocks,
        (select count(*) from purges) as "pendingPurges",
        (select count(*) from holds where gone = 0) as held`)
      // A sum is null over no rows, and Postgres gives it as a numeric, in text.
      return { uploadsToday: used === null ? null : Number(used?.[0]?.uploads ?? 0), ...counts! }
    },
  } satisfies Partial<Ledger>

  return {
    ...calls.of(methods),
    everyCase,
    everyAuditEntry,
    join,
    async close() {
      await calls.end()
      await Promise.all([database.close(), tables.close()])
    },
  }
}
