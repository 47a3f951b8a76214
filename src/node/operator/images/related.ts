/** Images that go with those that are named: of the same bytes, of the same uploader or network. */
import { type Command, Option } from 'commander'
import { type Takedown, withRelated } from '../../../service/moderation/takedown.ts'
import { digestsOf, type ObjectStore } from '../../../stores/object-store.ts'
import { createProgress } from '../data/progress.ts'
import { isSelective, type Selection, select, selectionOptions } from '../data/selection.ts'
import { onData } from '../on-data.ts'
import { print } from '../print.ts'
import { readIds, reasonOption, ruleOption } from '../subjects.ts'

const CONDITIONS = `
Instead of ids, conditions: all images that meet them. \`list\` with the same conditions shows which.`

function doublesOption(): Option {
  return new Option(
    '--doubles',
    'and all images of the same bytes, or with the same preview; reads every record',
  ).default(false)
}

/** The ids, and those of all images of the same bytes or with the same preview, each once. There is no index of digests: every record is read. */
async function withDoubles(
  objects: ObjectStore,
  ids: string[],
  options: { doubles: boolean },
): Promise<string[]> {
  if (!options.doubles) return ids
  const progress = createProgress()
  const onRead = (count: number) => progress(() => `${count} records read`)
  const digests = new Set<string>()
  for (const id of ids) {
    const record =
      (await objects.head(id).catch(() => null)) ?? (await objects.headHeld(id).catch(() => null))
    if (record !== null) for (const digest of digestsOf(record)) digests.add(digest)
  }
  const all = new Set(ids)
  for await (const record of select(objects, {}, onRead)) {
    if (digestsOf(record).some((digest) => digests.has(digest))) all.add(record.id)
  }
  return [...all]
}

function sameUploaderOption(): Option {
  return new Option('--same-uploader', 'and what the same uploader stored in the two days').default(false)
}

function sameNetworkOption(): Option {
  return new Option(
    '--same-network',
    'and what came from the same network (/24, or /48 of IPv6) in the two days; others share it',
  ).default(false)
}

export interface SubjectOptions extends Selection {
  reason: string
  rule?: string
  sameUploader: boolean
  sameNetwork: boolean
  doubles: boolean
}

/**
 * Completes a command that acts on images, named by ids or by conditions. `act`: on one of them; `says` is printed. The
 * command fails if it was not done to one, or if there is none.
 */
export function onSubjects<Options extends SubjectOptions>(
  command: Command,
  act: (takedown: Takedown, id: string, options: Options) => Promise<{ isDone: boolean; says: string }>,
): Command {
  command
    .argument('[id...]', 'ids, or addresses that end with one', readIds)
    .addOption(reasonOption())
    .addOption(ruleOption())
    .addOption(sameUploaderOption())
    .addOption(sameNetworkOption())
    .addOption(doublesOption())
    .addHelpText('after', CONDITIONS)
  for (const option of selectionOptions()) command.addOption(option)
  return command.action((ids: string[], options: Options) => {
    if (ids.length > 0 === isSelective(options)) {
      // Commander prints nothing for an error that an action throws.
      command.error('error: name ids, or conditions; not both')
    }
    return onData(async ({ takedown, stores: { objects } }) => {
      const all = await withRelated(takedown, await subjectsOf(ids, options, objects), options)
      let missed = 0
      for (const id of all) {
        const { isDone, says } = await act(takedown, id, options)
        if (!isDone) missed++
        print(says)
      }
      if (all.length === 0) print('no image meets these conditions')
      return missed === 0 && all.length > 0 ? 0 : 1
    })
  })
}

/** The ids, or those of all images that meet the conditions; and those of the same bytes if asked for. */
async function subjectsOf(
  ids: string[],
  options: Selection & { doubles: boolean },
  objects: ObjectStore,
): Promise<string[]> {
  const subjects = [...ids]
  const progress = createProgress()
  const onRead = (count: number) => progress(() => `${count} records read`)
  if (ids.length === 0) for await (const { id } of select(objects, options, onRead)) subjects.push(id)
  return withDoubles(objects, subjects, options)
}
