/** The ledger's tables, as Kysely sees them. `sql-migrations.ts` makes them. */

export interface LedgerTables {
  places: Places
  salts: Salts
  blocks: Blocks
  removals: Removals
  acts: Acts
  purges: Purges
  migrations: Migrations
}

/** Places taken by one bucket on one day. */
interface Places {
  /** YYYY-MM-DD, UTC. */
  day: string
  bucket: string
  used: number
}

interface Salts {
  day: string
  /** 32 bytes in hex: SQLite and Postgres name their binary types differently. */
  salt: string
}

interface Blocks {
  sha256: string
  blocked_at_ms: number
}

interface Removals {
  id: string
  removed_at_ms: number
}

interface Acts {
  /** Random. */
  number: string
  at_ms: number
  /** Orders acts of the same millisecond. */
  recorded_us: number
  act: 'remove' | 'block' | 'unblock'
  subject: string
  reason: string
}

interface Purges {
  /** Of the image: one debt each. */
  id: string
  /** The token of the last claim, 0 if there is none or the debt was renewed: an older claim settles nothing. */
  claim: number
  attempts: number
  fill_ends_at_ms: number
  /** Not to be claimed before. While claimed: the end of the lease. */
  due_at_ms: number
  owed_since_ms: number
}

interface Migrations {
  name: string
}
