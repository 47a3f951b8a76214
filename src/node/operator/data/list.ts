/** operator list */
import { join } from 'node:path'
import { Command } from 'commander'
import { countImages } from '../../../stores/filesystem/listing.ts'
import { onData } from '../on-data.ts'
import { isOutputRead, print } from '../print.ts'
import { createProgress } from './progress.ts'
import { isSelective, type Selection, select, selectionOptions } from './selection.ts'

const COST = `
Without conditions it lists names: seconds for a million in a folder, one request for a thousand in S3.
With conditions it reads every record: one small read for each in a folder, one request for each in S3.`

export function listCommand(): Command {
  const command = new Command('list')
    .alias('find')
    .description('list images, or find those that meet all conditions')
    .option('--json', 'print records as JSON lines', false)
    .option('--count', 'print how many', false)
    .addHelpText('after', COST)
  for (const option of selectionOptions()) command.addOption(option)
  return command.action((options: Selection & { json: boolean; count: boolean }) =>
    onData(async ({ config, stores: { objects } }) => {
      const progress = createProgress()
      let count = 0
      const isPlain = !options.json && !isSelective(options)
      if (isPlain && options.count && config.objectsUrl === null) {
        const folder = join(config.dataDir, 'images', 'objects')
        count = countImages(folder, (sofar) => progress(() => `${sofar} so far`))
      } else if (isPlain) {
        for await (const id of objects.list()) {
          count++
          if (options.count) progress(() => `${count} so far`)
          else print(id)
          if (!options.count && !isOutputRead()) break
        }
      } else {
        const onRead = (read: number) => progress(() => `${read} records read, ${count} found`)
        for await (const record of select(objects, options, onRead)) {
          count++
          const { keySha256: _, ...told } = record
          if (!options.count) print(options.json ? JSON.stringify(told) : lineOf(record))
          if (!options.count && !isOutputRead()) break
        }
      }
      if (options.count) print(options.json ? JSON.stringify({ count }) : `${count}`)
      return 0
    }),
  )
}

function lineOf({
  id,
  createdAt,
  type,
  size,
  sha256,
}: {
  id: string
  createdAt: string
  type: string
  size: number
  sha256: string
}) {
  return `${id} ${createdAt} ${type} ${size} ${sha256}`
}
