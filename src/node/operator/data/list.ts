/** operator list */
import { join } from 'node:path'
import { Command } from 'commander'
import { countImages } from '../../../stores/filesystem/listing.ts'
import type { ImageRecord } from '../../../stores/object-store.ts'
import { onData } from '../on-data.ts'
import type { OperatorData } from '../operator-data.ts'
import { createProgress, hasOutputReader, print } from '../print.ts'
import { isSelective, type Selection, select, selectionOptions } from './selection.ts'

const COST = `
Without conditions it lists IDs: seconds for a million in a folder, one request per thousand in S3.
With conditions it reads every record: one small read each in a folder, one request each in S3.`

export const listCommand = new Command('list')
  .alias('find')
  .description('list images, or find those that meet all conditions; held ones are marked')
  .option('--json', 'print records as JSON lines', false)
  .option('--count', 'print only their number', false)
  .addHelpText('after', COST)
  .action(
    onData(async (data, options: Selection & { json: boolean; count: boolean }) => {
      const { objects } = data.stores
      const progress = createProgress()
      let count = 0
      const isPlain = !options.json && !isSelective(options)
      if (isPlain && options.count) {
        count = await countStored(data, (listed) => `${listed} so far`)
        for await (const _ of objects.listHeld()) count++
      } else if (isPlain) {
        for await (const id of objects.list()) {
          print(id)
          if (!hasOutputReader()) return
        }
        for await (const id of objects.listHeld()) {
          print(`${id} held`)
          if (!hasOutputReader()) return
        }
      } else {
        const onRead = (read: number) => progress(() => `${read} records read, ${count} found`)
        for await (const { record, isHeld } of select(objects, options, onRead)) {
          count++
          if (options.count) continue
          const { keySha256: _, ...publicRecord } = record
          if (options.json) print(JSON.stringify({ ...publicRecord, ...(isHeld && { held: true }) }))
          else print(lineOf(record) + (isHeld ? ' held' : ''))
          if (!hasOutputReader()) break
        }
      }
      if (options.count) print(options.json ? JSON.stringify({ count }) : `${count}`)
    }),
  )
for (const option of selectionOptions()) listCommand.addOption(option)

function lineOf({ id, createdAt, type, size, sha256 }: ImageRecord): string {
  return `${id} ${createdAt} ${type} ${size} ${sha256}`
}

/**
 * Counts the stored images. A local folder is read once, unordered: a second for a million. Any other store is listed.
 */
export async function countStored(
  { config, stores: { objects }, server }: OperatorData,
  progressText: (count: number) => string,
): Promise<number> {
  const progress = createProgress()
  const onProgress = (count: number) => progress(() => progressText(count))
  const isLocalFolder = config.objectsUrl === null && server === undefined
  if (isLocalFolder) return countImages(join(config.dataDir, 'images', 'objects'), onProgress)
  let count = 0
  for await (const _ of objects.list()) onProgress(++count)
  return count
}
