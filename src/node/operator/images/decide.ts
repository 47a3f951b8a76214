/** operator hold, remove, release, keep, block and unblock: each does one thing to each of many images or digests. */
import { Command } from 'commander'
import { damagedIsThere } from '../../../service/images/status.ts'
import { type Takedown, withRelated } from '../../../service/moderation/takedown.ts'
import { digestsOf, type ObjectStore } from '../../../stores/object-store.ts'
import { actedBy, readDigest, readId, reasonOption, ruleOption, several } from '../arguments.ts'
import { isSelective, type Selection, select, selectionOptions } from '../data/selection.ts'
import { onData } from '../on-data.ts'
import { createProgress, print } from '../print.ts'

interface Given {
  reason: string
  rule?: string
}

interface ImageOptions extends Given, Selection {
  sameUploader: boolean
  sameNetwork: boolean
  doubles: boolean
}

const CONDITIONS = `
Instead of ids, conditions: all images that meet them. \`list\` with the same conditions shows which.`

type Outcome = [isDone: boolean, says: string]

export const holdCommand = onImages(
  new Command('hold').description(
    'take images out of sight: they answer 403, and nobody can upload the same bytes, until they are released',
  ),
  async (takedown, id, options, objects) => {
    if (await takedown.hold(id, options.reason, actedBy(options))) return [true, `held ${id}`]
    const isHeld = (await objects.headHeld(id).catch(damagedIsThere)) !== null
    return [isHeld, `${id} ${isHeld ? 'is held already' : 'was not there to be held'}`]
  },
)

export const releaseCommand = onIds(
  new Command('release').description('make held images visible again, as they were'),
  async (takedown, id, given) => {
    const isDone = await takedown.release(id, given.reason, actedBy(given))
    return [isDone, isDone ? `released ${id}` : `${id} is not held`]
  },
)

export const keepCommand = onIds(
  new Command('keep').description('decide that reported images stay; held ones are released'),
  async (takedown, id, given) => {
    const isDone = await takedown.keep(id, given.reason, actedBy(given))
    return [isDone, isDone ? `kept ${id}` : `${id} has no case, or was removed`]
  },
)

export const removeCommand = onImages<ImageOptions & { block: boolean }>(
  new Command('remove')
    .description('remove images for good: they answer 410')
    .option('--block', 'refuse the same bytes from now on', false),
  async (takedown, id, options) => {
    const { block, reason } = options
    const { removed, blocked } = await takedown.remove(id, reason, { block, by: actedBy(options) })
    const also = blocked.length > 0 ? `, blocked ${blocked.join(' ')}` : ''
    const says = removed ? `removed ${id}` : `${id} was not there; it answers 410 from now on`
    return [removed, says + also]
  },
)

export const blockCommand = onSubjects(
  new Command('block')
    .description('refuse uploads with these bytes, by their digest as sent or as stored')
    .argument('<sha256...>', 'digests in hex', several(readDigest))
    .addOption(reasonOption()),
  async (takedown, digest, { reason }) => {
    await takedown.block(digest, reason, actedBy())
    return [true, `blocked ${digest}`]
  },
)

export const unblockCommand = onSubjects(
  new Command('unblock')
    .description('accept these bytes again')
    .argument('<sha256...>', 'digests in hex', several(readDigest))
    .addOption(reasonOption()),
  async (takedown, digest, { reason }) => {
    const wasBlocked = await takedown.unblock(digest, reason, actedBy())
    return [wasBlocked, wasBlocked ? `unblocked ${digest}` : `${digest} was not blocked`]
  },
)

/** Completes a command that takes ids, a reason and a rule, and runs `act` for each id. */
function onIds(
  command: Command,
  act: (takedown: Takedown, id: string, given: Given) => Promise<Outcome>,
): Command {
  command.argument('<id...>', 'ids, or addresses that end with one', several(readId))
  return onSubjects(command.addOption(reasonOption()).addOption(ruleOption()), act)
}

/** Completes a command that runs `act` for each id or digest that it is given. */
function onSubjects(
  command: Command,
  act: (takedown: Takedown, subject: string, given: Given) => Promise<Outcome>,
): Command {
  return command.action(
    onData(({ takedown }, subjects: string[], given: Given) =>
      doToEach(subjects, (subject) => act(takedown, subject, given)),
    ),
  )
}

/** Completes a command that acts on images, named by ids or by conditions. It fails if there is none. */
function onImages<Options extends ImageOptions>(
  command: Command,
  act: (takedown: Takedown, id: string, options: Options, objects: ObjectStore) => Promise<Outcome>,
): Command {
  command
    .argument('[id...]', 'ids, or addresses that end with one', several(readId))
    .addOption(reasonOption())
    .addOption(ruleOption())
    .option('--same-uploader', 'and what the same uploader stored in the two days', false)
    .option(
      '--same-network',
      'and what came from the same network (/24, or /48 of IPv6) in the two days; others share it',
      false,
    )
    .option(
      '--doubles',
      'and all images of the same bytes, or with the same preview; reads every record',
      false,
    )
    .addHelpText('after', CONDITIONS)
  for (const option of selectionOptions()) command.addOption(option)
  const actOnAll = onData(async ({ takedown, stores: { objects } }, ids: string[], options: Options) => {
    const all = await withRelated(takedown, await namedBy(ids, options, objects), options)
    if (all.length === 0) {
      print('no image meets these conditions')
      return 1
    }
    return doToEach(all, (id) => act(takedown, id, options, objects))
  })
  return command.action((ids: string[], options: Options) => {
    // Commander prints nothing for an error that an action throws.
    if (ids.length > 0 === isSelective(options)) command.error('error: name ids, or conditions; not both')
    return actOnAll(ids, options)
  })
}

/** The exit code: 1 if it could not be done to one of them. */
async function doToEach(subjects: string[], act: (subject: string) => Promise<Outcome>): Promise<number> {
  let code = 0
  for (const subject of subjects) {
    const [isDone, says] = await act(subject)
    if (!isDone) code = 1
    print(says)
  }
  return code
}

/**
 * The ids, or those of all images that meet the conditions; with `doubles` also those of the same bytes or with the same
 * preview. There is no index of digests: every record is read.
 */
async function namedBy(
  ids: string[],
  options: Selection & { doubles: boolean },
  objects: ObjectStore,
): Promise<string[]> {
  const progress = createProgress()
  const records = (selection: Selection) =>
    select(objects, selection, (count) => progress(() => `${count} records read`))
  const all = new Set(ids)
  if (ids.length === 0) for await (const { id } of records(options)) all.add(id)
  if (!options.doubles) return [...all]
  const digests = new Set<string>()
  for (const id of all) {
    const record =
      (await objects.head(id).catch(() => null)) ?? (await objects.headHeld(id).catch(() => null))
    if (record !== null) for (const digest of digestsOf(record)) digests.add(digest)
  }
  for await (const record of records({})) {
    if (digestsOf(record).some((digest) => digests.has(digest))) all.add(record.id)
  }
  return [...all]
}
