/** operator queue and show: reported images. */
import { Command } from 'commander'
import { findImage, type ImageState, type ImageStatus } from '../../../service/images/status.ts'
import type { Case } from '../../../stores/reports.ts'
import { limitOption, readId } from '../arguments.ts'
import { onData } from '../on-data.ts'
import { print, printList } from '../print.ts'

/** Maximum number of reports shown per image. The daily caps bound how many can arrive. */
const SHOWN_REPORTS = 1000

export const queueCommand = new Command('queue')
  .description('list reported images awaiting a decision: most severe first, then by due time')
  .addOption(limitOption())
  .option('--held', 'list held images instead', false)
  .option('--json', 'print one JSON object per line', false)
  .action(
    onData(async ({ stores }, { limit, held, json }: { limit: number; held: boolean; json: boolean }) => {
      const state = held ? 'held' : 'open'
      const cases = await stores.ledger.cases([state], limit + 1)
      if (cases.length === 0 && !json) print(`no ${state} cases`)
      printList(cases, limit, (each) =>
        json ? JSON.stringify(memberOf(each)) : lineOf(each, stores.clock.now()),
      )
    }),
  )

export const showCommand = new Command('show')
  .description('show an image’s reports, reporters and record; the image itself is not fetched')
  .argument('<id>', 'an ID, or an address that ends with one', readId)
  .option('--json', 'print one JSON object', false)
  .action(
    onData(async ({ stores }, id: string, { json }: { json: boolean }) => {
      const { ledger, clock } = stores
      const [found, reports, { state, record }] = await Promise.all([
        ledger.caseOf(id),
        ledger.reportsOf(id, SHOWN_REPORTS),
        findImage(stores, id),
      ])
      if (json) {
        const members = reports.map(({ at, ...rest }) => ({ at: isoOf(at), ...rest }))
        print(JSON.stringify({ id, place: state, record, case: found && memberOf(found), reports: members }))
      } else {
        print(found === null ? `${id} was not reported` : lineOf(found, clock.now()))
        print(record === null ? wordsOf(state) : `${state} ${lineOfRecord(record)}`)
        for (const { at, category, text, contact } of reports) {
          print(`\n${isoOf(at)} ${category}${contact && ` from ${contact}`}\n${indented(text)}`)
        }
      }
      return found === null && state === 'absent' ? 1 : 0
    }),
  )

/** Times are ISO 8601, UTC. */
export function memberOf({ openedAt, dueAt, decidedAt, isCrowded, isImageGone, ...rest }: Case): object {
  const [opened, due, decided] = [openedAt, dueAt, decidedAt].map((at) => at && isoOf(at))
  return { ...rest, opened, due, decided, crowded: isCrowded, gone: isImageGone }
}

function lineOf(found: Case, now: number): string {
  const { id, category, severity, state, reports, dueAt, isCrowded, isImageGone } = found
  const count = `${reports} ${reports === 1 ? 'report' : 'reports'}`
  const last = [...(isCrowded ? ['crowded'] : []), ...(isImageGone ? ['image gone'] : [])].join(', ')
  return `${id} ${category} severity ${severity} ${count} ${state} ${due(dueAt - now)} ${last}`.trimEnd()
}

function due(leftMs: number): string {
  const minutes = Math.floor(Math.abs(leftMs) / 60_000)
  const span = minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`
  return leftMs < 0 ? `overdue by ${span}` : `due in ${span}`
}

function isoOf(at: number): string {
  return new Date(at).toISOString()
}

function wordsOf(state: ImageState): string {
  return state === 'withheld' ? 'deleted; nobody can upload its bytes until you release or remove it' : state
}

function lineOfRecord({ createdAt, type, size, sha256 }: NonNullable<ImageStatus['record']>): string {
  return `${createdAt} ${type} ${size} bytes, SHA-256 ${sha256}`
}

/** Indents a reporter's text, so that none of its lines look like our own output. */
function indented(text: string): string {
  return text === '' ? '  (erased)' : text.replace(/^/gm, '  ')
}
