/** What a figure was measured on. */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpus, loadavg, release, totalmem } from 'node:os'

/** One line. The load says how busy the machine was with other things. */
export function machine(): string {
  const processors = cpus()
  return [
    new Date().toISOString().slice(0, 16).replace('T', ' '),
    `commit ${commit()}`,
    `${processors.length} × ${processors[0]!.model.trim()}`,
    `${Math.round(totalmem() / 2 ** 30)} GB`,
    `Linux ${release()}`,
    `Node ${process.versions.node}`,
    ...[versionOf('nginx', /nginx\/[\d.]+/), versionOf('wrk', /wrk \S+ ?[\d.]*/)].filter(
      (text) => text !== '',
    ),
    `load ${loadavg()[0]!.toFixed(1)}`,
  ].join(', ')
}

/** Short. */
export function commit(): string {
  const options = { cwd: import.meta.dirname, encoding: 'utf8' } as const
  return execFileSync('git', ['rev-parse', '--short', 'HEAD'], options).trim()
}

function versionOf(tool: string, pattern: RegExp): string {
  const { stdout, stderr } = spawnSync(tool, ['-v'], { encoding: 'utf8' })
  return pattern.exec(`${stdout}${stderr}`)?.[0] ?? ''
}
