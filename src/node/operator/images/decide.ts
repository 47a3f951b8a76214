/** operator hold, remove, release, keep, block and unblock: apply one decision to many images or digests. */
import { Command } from 'commander'
import { batchesOf } from '../../../async.ts'
import { recordAnywhere, treatDamagedAsPresent } from '../../../service/images/status.ts'
import { type Takedown, withRelated } from '../../../service/moderation/takedown.ts'
import { digestsOf, type ObjectStore } from '../../../stores/object-store.ts'
import { currentActor, readDigest, readId, reasonOption, ruleOption, variadic } from '../arguments.ts'
import { isSelective, type Selection, select, selectionOptions } from '../data/selection.ts'
import { onData } from '../on-data.ts'
import { createProgress, print } from '../print.ts'

interface DecisionOptions {
  reason: string
  rule?: string
}

interface ImageOptions extends DecisionOptions, Selection {
  sameUploader: boolean
  sameNetwork: boolean
  doubles: boolean
}

const CONDITIONS = `
Instead of IDs, give conditions to act on all images that meet them. Preview them with \`list\`.`

type Outcome = [isDone: boolean, message: string]

export const holdCommand = onImages(
  new Command('hold').description(
    'hide images until they are released: they answer 403, and the same bytes cannot be uploaded',
  ),
  async (takedown, id, options, objects) => {
    if (await takedown.hold(id, options.reason, currentActor(options))) return [true, `held ${id}`]
    const isHeld = (await objects.headHeld(id).catch(treatDamagedAsPresent)) !== null
    return [isHeld, `${id} ${isHeld ? 'is already held' : 'does not exist'}`]
  },
)

export const releaseCommand = onImages(
  new Command('release').description('make held images visible again'),
  async (takedown, id, options) => {
    const isDone = await takedown.release(id, options.reason, currentActor(options))
    return [isDone, isDone ? `released ${id}` : `${id} is not held`]
  },
  { heldOnly: true },
)

export const keepCommand = onIds(
  new Command('keep').description('decide that reported images may stay; releases held ones'),
  async (takedown, id, decision) => {
    const isDone = await takedown.keep(id, decision.reason, currentActor(decision))
    return [isDone, isDone ? `kept ${id}` : `${id} has no case, or was removed`]
  },
)

export const removeCommand = onImages<ImageOptions & { block: boolean }>(
  new Command('remove')
    .description('remove images permanently: they answer 410')
    .option('--block', 'refuse further uploads of the same bytes', false),
  async (takedown, id, options) => {
    const { block, reason } = options
    const { removed, blocked } = await takedown.remove(id, reason, { block, by: currentActor(options) })
    const also = blocked.length > 0 ? `, blocked ${blocked.join(' ')}` : ''
    const message = removed ? `removed ${id}` : `${id} did not exist; it answers 410 from now on`
    return [removed, message + also]
  },
)

export const blockCommand = onSubjects(
  new Command('block')
    .description('refuse uploads with these digests, as uploaded or as stored')
    .argument('<sha256...>', 'digests in hex', variadic(readDigest))
    .addOption(reasonOption()),
  async (takedown, digest, { reason }) => {
    await takedown.block(digest, reason, currentActor())
    return [true, `blocked ${digest}`]
  },
)

export const unblockCommand = onSubjects(
  new Command('unblock')
    .description('accept these digests again')
    .argument('<sha256...>', 'digests in hex', variadic(readDigest))
    .addOption(reasonOption()),
  async (takedown, digest, { reason }) => {
    const wasBlocked = await takedown.unblock(digest, reason, currentActor())
    return [wasBlocked, wasBlocked ? `unblocked ${digest}` : `${digest} was not blocked`]
  },
)

/** Completes a command that takes IDs, a reason and a rule, and runs `apply` for each ID. */
function onIds(
  command: Command,
  apply: (takedown: Takedown, id: string, decision: DecisionOptions) => Promise<Outcome>,
): Command {
  command.argument('<id...>', 'IDs, or addresses that end with one', variadic(readId))
  return onSubjects(command.addOption(reasonOption()).addOption(ruleOption()), apply)
}

/** Completes a command that runs `apply` for each ID or digest. */
function onSubjects(
  command: Command,
  apply: (takedown: Takedown, subject: string, decision: DecisionOptions) => Promise<Outcome>,
): Command {
  return command.action(
    onData(({ takedown }, subjects: string[], decision: DecisionOptions) =>
      runEach(subjects, (subject) => apply(takedown, subject, decision)),
    ),
  )
}

/**
 * Completes a command that acts on images, selected by IDs or conditions. Fails if none match. `heldOnly`: the conditions
 * select held images only.
 */
function onImages<Options extends ImageOptions>(
  command: Command,
  apply: (takedown: Takedown, id: string, options: Options, objects: ObjectStore) => Promise<Outcome>,
  { heldOnly = false }: { heldOnly?: boolean } = {},
): Command {
  command
    .argument('[id...]', 'IDs, or addresses that end with one', variadic(readId))
    .addOption(reasonOption())
    .addOption(ruleOption())
    .option('--same-uploader', 'also images that the same uploader stored in the last two days', false)
    .option(
      '--same-network',
      'also images from the same network (/24, or /48 for IPv6) in the last two days; other people share it',
      false,
    )
    .option('--doubles', 'also all images with the same bytes or the same preview; reads every record', false)
    .addHelpText('after', CONDITIONS)
  for (const option of selectionOptions()) command.addOption(option)
  const applyToAll = onData(async ({ takedown, stores: { objects } }, ids: string[], options: Options) => {
    const all = await withRelated(takedown, await selectIds(ids, options, objects, heldOnly), options)
    if (all.length === 0) {
      print('no image matches these conditions')
      return 1
    }
    return runEach(all, (id) => apply(takedown, id, options, objects))
  })
  return command.action((ids: string[], options: Options) => {
    // Commander prints nothing for errors that an action throws.
    if (ids.length > 0 === isSelective(options))
      command.error('error: give either IDs or conditions, not both or neither')
    return applyToAll(ids, options)
  })
}

/** A flood must be hidden quickly, although a bucket takes a while for each image. */
const CONCURRENCY = 8

/** Prints the outcomes in order. Returns the exit code: 1 if the action failed for any subject. The first error ends the command. */
async function runEach(subjects: string[], apply: (subject: string) => Promise<Outcome>): Promise<number> {
  let code = 0
  for (const batch of batchesOf(subjects, CONCURRENCY)) {
    const settled = await Promise.allSettled(batch.map(apply))
    for (const outcome of settled) {
      if (outcome.status === 'rejected') continue
      const [isDone, message] = outcome.value
      if (!isDone) code = 1
      print(message)
    }
    const failed = settled.find((outcome) => outcome.status === 'rejected')
    if (failed) throw failed.reason
  }
  return code
}

/**
 * The given IDs, or those of all images that meet the conditions; with `doubles`, also images with the same bytes or the same
 * preview. There is no index of digests: every record is read.
 */
async function selectIds(
  ids: string[],
  options: Selection & { doubles: boolean },
  objects: ObjectStore,
  heldOnly: boolean,
): Promise<string[]> {
  const progress = createProgress()
  const records = (selection: Selection) =>
    select(objects, selection, (count) => progress(() => `${count} records read`), { heldOnly })
  const all = new Set(ids)
  if (ids.length === 0) for await (const { record } of records(options)) all.add(record.id)
  if (!options.doubles) return [...all]
  const digests = new Set<string>()
  for (const id of all) {
    const record = await recordAnywhere(objects, id).catch(() => null)
    if (record !== null) for (const digest of digestsOf(record)) digests.add(digest)
  }
  for await (const { record } of records({})) {
    if (digestsOf(record).some((digest) => digests.has(digest))) all.add(record.id)
  }
  return [...all]
}
