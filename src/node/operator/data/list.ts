/** operator list */
import { Command } from 'commander'
import { onData } from '../on-data.ts'
import { isOutputRead, print } from '../print.ts'
import { countStored } from './count.ts'
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
    onData(async (data) => {
      const { objects } = data.stores
      const progress = createProgress()
      let count = 0
      const isPlain = !options.json && !isSelective(options)
      if (isPlain && options.count) {
        count = await countStored(data, (sofar) => progress(() => `${sofar} so far`))
      } else if (isPlain) {
        for await (const id of objects.list()) {
          print(id)
          if (!isOutputRead()) break
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
