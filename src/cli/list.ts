import { Command } from 'commander'
import { openHistory } from './history.ts'
import { bytesText } from './words.ts'

export function listCommand(): Command {
  return new Command('list')
    .description('show what was uploaded from this machine, with the keys that delete it')
    .option('--json', 'print one JSON object a line')
    .action(list)
}

async function list({ json }: { json?: true }): Promise<void> {
  const history = openHistory()
  const entries = await history.list()
  for (const entry of entries) {
    const { link, key, name, time, bytes } = entry
    const when = new Date(time).toLocaleString('sv-SE', { dateStyle: 'short', timeStyle: 'short' })
    process.stdout.write(
      json
        ? `${JSON.stringify(entry)}\n`
        : `${when}  ${link}  ${key}  ${bytesText(bytes).padStart(7)}  ${name}\n`,
    )
  }
  if (entries.length === 0 && process.stderr.isTTY) {
    process.stderr.write(`Nothing yet. Uploads from this machine are remembered in ${history.folder}.\n`)
  }
}
