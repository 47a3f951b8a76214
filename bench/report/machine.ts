/** Describes the machine and the run that figures were measured on. */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpus, loadavg, release, totalmem } from 'node:os'
import { utcDayOf } from '../../src/utc-day.ts'

/** Load average at the start of this process, from other work on the machine. */
const load = loadavg()[0]!.toFixed(1)

/** The properties that vary between runs. */
export function thisRun(): string {
  return `${utcDayOf(Date.now())}, commit ${commit()}, Node ${process.versions.node}, load ${load}`
}

/** The constant properties. */
export function machine(): string {
  const processors = cpus()
  return [
    `${processors.length} × ${processors[0]!.model.trim()}`,
    `${Math.round(totalmem() / 2 ** 30)} GB`,
    `Linux ${release().split('-')[0]}`,
    versionOf('nginx', /nginx\/[\d.]+/),
    versionOf('wrk', /wrk \S+/),
  ]
    .filter((text) => text !== '')
    .join(', ')
}

/** Abbreviated hash of the current commit. */
export function commit(): string {
  const options = { cwd: import.meta.dirname, encoding: 'utf8' } as const
  return execFileSync('git', ['rev-parse', '--short', 'HEAD'], options).trim()
}

function versionOf(tool: string, pattern: RegExp): string {
  const { stdout, stderr } = spawnSync(tool, ['-v'], { encoding: 'utf8' })
  return pattern.exec(`${stdout}${stderr}`)?.[0] ?? ''
}
