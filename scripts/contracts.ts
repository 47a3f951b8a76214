/** The contract suites, the hosts and adapters that they run on, and the tables of their outcomes. */
import { join } from 'node:path'
import { ROOT } from './test/files.ts'

export interface Suite {
  /** The row's name. */
  name: string
  file: string
  /** Prefix of the suite's name in the file, and so of its cases' names. */
  pattern: string
  /** Replaces Node. */
  runtime?: 'bun' | 'deno'
}

const HTTP = 'HTTP contract'
const NODE = 'test/http.test.ts'
const CLUSTER = 'test/http-cluster.long.test.ts'

/** By table. */
export const SUITES: Record<string, Suite[]> = {
  'HTTP contract': [
    { name: 'Node, a folder and SQLite', file: NODE, pattern: HTTP },
    { name: 'three servers behind nginx, S3 and Postgres', file: CLUSTER, pattern: HTTP },
    { name: 'Cloudflare Workers, R2 and D1', file: 'test/worker/http.long.test.ts', pattern: HTTP },
    { name: 'Bun, a folder and SQLite', file: NODE, pattern: HTTP, runtime: 'bun' },
    { name: 'Deno, a folder and SQLite', file: NODE, pattern: HTTP, runtime: 'deno' },
  ],
  'Object store': [
    { name: 'a folder', file: 'test/stores/filesystem/store.test.ts', pattern: 'object store' },
    { name: 'S3, as documented', file: 'test/stores/s3/store.long.test.ts', pattern: 'object store' },
    { name: 'Ceph’s S3', file: 'test/stores/s3/ceph.long.test.ts', pattern: 'object store' },
    { name: 'R2', file: 'test/worker/r2.long.test.ts', pattern: 'object store' },
  ],
  Ledger: [
    { name: 'SQLite', file: 'test/stores/sqlite.test.ts', pattern: 'ledger' },
    { name: 'Postgres', file: 'test/stores/postgres/ledger.long.test.ts', pattern: 'ledger' },
    { name: 'D1', file: 'test/worker/d1.long.test.ts', pattern: 'ledger' },
  ],
}

export interface Outcome {
  passed: number
  /** Number of skipped cases, by reason. */
  notApplicable: Record<string, number>
  /** Names of failing cases. */
  failing: string[]
}

/** By row name. */
export type Outcomes = Record<string, Outcome>

/** Written by `npm run contract -- --save`. */
export const SAVED = join(ROOT, 'test/contracts/outcomes.json')

/** Markdown: one table for each group of suites that has outcomes. */
export function tableOf(outcomes: Outcomes): string {
  return Object.entries(SUITES)
    .map(([title, suites]) => {
      const rows = suites.flatMap(({ name }) => (outcomes[name] ? [rowOf(name, outcomes[name])] : []))
      return rows.length === 0
        ? []
        : [`| ${title} | passed | does not apply | failed |`, '|---|---|---|---|', ...rows]
    })
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')
}

function rowOf(name: string, { passed, notApplicable, failing }: Outcome): string {
  const others = Object.values(notApplicable).reduce((sum, count) => sum + count, 0)
  return `| ${name} | ${passed} | ${others || '–'} | ${failing.join('; ').replaceAll('|', '\\|') || '–'} |`
}
