/** What a run of tests says: a line a file while it goes on, and what came of it at its end. */
import { named } from './files.ts'
import type { FileResult } from './run-file.ts'

/** How a reason begins where a case says nothing about the host or adapter that it runs on. */
const NOT_APPLICABLE = 'does not apply: '

/** Reasons that this machine gives, each with the cases that were left out for it. */
export function lacking(results: FileResult[]): Map<string, string[]> {
  const reasons = new Map<string, string[]>()
  for (const { at, reason } of results.flatMap(({ skipped }) => skipped)) {
    if (reason.startsWith(NOT_APPLICABLE)) continue
    reasons.set(reason, [...(reasons.get(reason) ?? []), at])
  }
  return reasons
}

export function lineOf(result: FileResult, done: number, all: number): string {
  const { file, ms, seconds, passed, failed, said, left } = result
  const skipped = [...lacking([result]).values()].flat().length
  const counts = [
    `${passed} passed`,
    ...(failed.length > 0 ? [`${failed.length} FAILED`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ]
  const notes = [...said, ...left.map((command) => `left running, and ended: ${command}`)]
  return [
    `${`${done}`.padStart(`${all}`.length)}/${all} ${(ms / 1000).toFixed(1).padStart(6)} s ${seconds.toFixed(1).padStart(5)} cpu  ${named(file)}: ${counts.join(', ')}`,
    ...failed.map(({ at, why }) => indented(`✖ ${at}\n${why}`)),
    ...notes.map((note) => indented(note)),
  ].join('\n')
}

/** The end of a run. The last line has the counts alone. */
export function endOf(results: FileResult[], leftOut: string | null): string {
  const failed = results.flatMap(({ failed }) => failed)
  const reasons = lacking(results)
  const skipped = [...reasons.values()].flat()
  const passed = results.reduce((sum, result) => sum + result.passed, 0)
  return [
    ...(failed.length > 0
      ? [
          '',
          'Failed:',
          ...failed.map(({ at, why }) => indented(`✖ ${at}\n${why.split('\n').slice(0, 12).join('\n')}`)),
          ...results.flatMap(({ failed, said }) => (failed.length > 0 ? said.map(indented) : [])),
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
    ...(leftOut === null ? [] : ['', leftOut]),
    '',
    `${passed} passed, ${failed.length} failed, ${skipped.length} skipped`,
  ].join('\n')
}

const indented = (text: string) => text.replace(/^/gm, '    ')
