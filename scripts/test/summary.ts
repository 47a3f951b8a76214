/** The output of a test run: a line per file while it runs, and a summary at the end. */
import { pathFromRoot } from './files.ts'
import type { FileResult } from './run-file.ts'

/** Prefix of skip reasons for cases that do not apply to a host or adapter. */
const NOT_APPLICABLE = 'does not apply: '

/** Cases skipped because of this machine, by reason. */
export function skippedCases(results: FileResult[]): Map<string, string[]> {
  const reasons = new Map<string, string[]>()
  for (const { at, reason } of results.flatMap(({ skipped }) => skipped)) {
    if (reason.startsWith(NOT_APPLICABLE)) continue
    reasons.set(reason, [...(reasons.get(reason) ?? []), at])
  }
  return reasons
}

export function resultLine(result: FileResult, done: number, all: number): string {
  const { file, ms, seconds, passed, failed, diagnostics, left } = result
  const skipped = [...skippedCases([result]).values()].flat().length
  const counts = [
    `${passed} passed`,
    ...(failed.length > 0 ? [`${failed.length} FAILED`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ]
  const notes = [...diagnostics, ...left.map((command) => `left running, and killed: ${command}`)]
  return [
    `${`${done}`.padStart(`${all}`.length)}/${all} ${(ms / 1000).toFixed(1).padStart(6)} s ${seconds.toFixed(1).padStart(5)} cpu  ${pathFromRoot(file)}: ${counts.join(', ')}`,
    ...failed.map(({ at, why }) => indented(`✖ ${at}\n${why}`)),
    ...notes.map((note) => indented(note)),
  ].join('\n')
}

/** The end of a run's output. The last line has only the counts. */
export function summaryOf(results: FileResult[], note: string | null): string {
  const failed = results.flatMap(({ failed }) => failed)
  const reasons = skippedCases(results)
  const skipped = [...reasons.values()].flat()
  const passed = results.reduce((sum, result) => sum + result.passed, 0)
  return [
    ...(failed.length > 0
      ? [
          '',
          'Failed:',
          ...failed.map(({ at, why }) => indented(`✖ ${at}\n${why.split('\n').slice(0, 12).join('\n')}`)),
          ...results.flatMap(({ failed, diagnostics }) =>
            failed.length > 0 ? diagnostics.map(indented) : [],
          ),
        ]
      : []),
    ...(skipped.length > 0
      ? [
          '',
          'Skipped, because this machine lacks something:',
          ...[...reasons].map(
            ([reason, cases]) =>
              `  ${reason} (${cases[0]}${cases.length > 1 ? ` and ${cases.length - 1} more` : ''})`,
          ),
        ]
      : []),
    ...(note === null ? [] : ['', note]),
    '',
    `${passed} passed, ${failed.length} failed, ${skipped.length} skipped`,
  ].join('\n')
}

const indented = (text: string) => text.replace(/^/gm, '    ')
