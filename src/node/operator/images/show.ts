/** operator show */
import { Command } from 'commander'
import { findImage, type ImageState, type ImageStatus } from '../../../service/images/status.ts'
import { onData } from '../on-data.ts'
import { print } from '../print.ts'
import { readId } from '../subjects.ts'
import { lineOf, memberOf } from './queue.ts'

/** Reports of one image that are shown. The caps of a day bound how many come. */
const SHOWN_REPORTS = 1000

export function showCommand(): Command {
  return new Command('show')
    .description(
      'what was reported of an image, by whom, and what is stored; the image itself is not fetched',
    )
    .argument('<id>', 'an id, or an address that ends with one', readId)
    .option('--json', 'as one JSON object', false)
    .action((id: string, { json }: { json: boolean }) =>
      onData(async ({ stores }) => {
        const { ledger, clock } = stores
        const [found, reports, { state, record }] = await Promise.all([
          ledger.caseOf(id),
          ledger.reportsOf(id, SHOWN_REPORTS),
          findImage(stores, id),
        ])
        if (json) {
          const members = reports.map(({ at, ...rest }) => ({ at: new Date(at).toISOString(), ...rest }))
          print(
            JSON.stringify({ id, place: state, record, case: found && memberOf(found), reports: members }),
          )
        } else {
          print(found === null ? `${id} was not reported` : lineOf(found, clock.now()))
          print(record === null ? wordsOf(state) : `${state} ${lineOfRecord(record)}`)
          for (const { at, category, text, contact } of reports) {
            print(
              `\n${new Date(at).toISOString()} ${category}${contact && ` from ${contact}`}\n${indented(text)}`,
            )
          }
        }
        return found === null && state === 'absent' ? 1 : 0
      }),
    )
}

function wordsOf(state: ImageState): string {
  return state === 'withheld' ? 'deleted; nobody can upload its bytes until you release or remove it' : state
}

function lineOfRecord({ createdAt, type, size, sha256 }: NonNullable<ImageStatus['record']>): string {
  return `${createdAt} ${type} ${size} bytes, SHA-256 ${sha256}`
}

/** So that no line of a report looks like one of ours. */
function indented(text: string): string {
  return text === '' ? '  (forgotten)' : text.replace(/^/gm, '  ')
}
