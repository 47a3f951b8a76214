/**
 * Snapshot of a ledger in Postgres, as text: one JSON object per row, `{"table":…,"row":{…}}`. Consistent, and portable between
 * versions of the server.
 */
import { Client } from 'pg'
import { isPrivate } from '../sql/private.ts'

/** Fact: the restore is complete. */
const RESTORED = 'restored'

/** Rows per fetch. */
const PAGE_ROWS = 5000

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, application_name: 'pinhole' })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

export function snapshotPostgres(url: string, write: (text: string) => Promise<void>): Promise<void> {
  return withClient(url, async (client) => {
    await client.query('begin isolation level repeatable read read only')
    const tables = await client.query<{ table_name: string }>(
      `select table_name from information_schema.tables
        where table_schema = current_schema() and table_type = 'BASE TABLE' order by table_name`,
    )
    for (const { table_name: table } of tables.rows) {
      if (isPrivate(table)) continue
      await client.query(
        `declare copied cursor for select row_to_json(t)::text as row from ${quoted(table)} t`,
      )
      for (;;) {
        const { rows } = await client.query<{ row: string }>(`fetch ${PAGE_ROWS} from copied`)
        if (rows.length === 0) break
        await write(rows.map(({ row }) => `{"table":${JSON.stringify(table)},"row":${row}}\n`).join(''))
      }
      await client.query('close copied')
    }
    await client.query('commit')
  })
}

/**
 * Restores into a ledger with empty tables, except for what opening it writes. Atomic. Does nothing if the ledger was already
 * restored.
 */
export function restorePostgres(url: string, lines: Iterable<string>): Promise<void> {
  return withClient(url, async (client) => {
    await client.query('begin')
    const { rows } = await client.query(
      `select (select count(*)::int from audit_log) as entries,
        exists (select 1 from facts where name = '${RESTORED}') as restored`,
    )
    const { entries, restored } = rows[0] as { entries: number; restored: boolean }
    if (restored) return
    if (entries > 0) throw new Error('the database already has a ledger')
    for (const line of lines) {
      const { table, row } = JSON.parse(line) as { table: string; row: Record<string, unknown> }
      // Snapshots by older versions include private tables.
      if (isPrivate(table)) continue
      // By name: columns that an older version lacked get their defaults.
      const columns = Object.keys(row).map(quoted).join(', ')
      await client.query(
        `insert into ${quoted(table)} (${columns})
          select ${columns} from json_populate_record(null::${quoted(table)}, $1) on conflict do nothing`,
        [JSON.stringify(row)],
      )
    }
    await client.query(`insert into facts (name, value) values ('${RESTORED}', 'yes') on conflict do nothing`)
    await client.query('commit')
  })
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
