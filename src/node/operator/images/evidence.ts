/** operator evidence */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Command } from 'commander'
import { parseConfig } from '../../../config.ts'
import { readOpened } from '../../../service/moderation/evidence.ts'
import { createKeyPair, open } from '../../../service/moderation/sealing.ts'
import { openFolderFiles } from '../../../stores/filesystem/files.ts'
import { previewRange } from '../../../stores/object-store.ts'
import { copyEvidence, openEvidenceFiles } from '../../open/files.ts'
import { print } from '../print.ts'

export const evidenceCommand = new Command('evidence').description(
  'handle sealed evidence: images removed for child abuse, kept for a year',
)
evidenceCommand
  .command('key <file>')
  .description('create a key pair: writes the private key to a file and prints the variable EVIDENCE_KEY')
  .action(makeKey)
evidenceCommand
  .command('list')
  .description('list sealed boxes, named by expiry date and image ID')
  .action(async () => {
    for (const name of await (await sealedFiles()).names()) print(name)
  })
evidenceCommand
  .command('copy <folder>')
  .description('copy sealed boxes to a folder, to take them to the machine with the private key')
  .action(async (folder: string) => copyEvidence(await sealedFiles(), openFolderFiles(folder)))
evidenceCommand
  .command('open <key-file> <box...>')
  .description('open sealed boxes, on the machine with the private key')
  .requiredOption('--to <folder>', 'folder for the images and their metadata')
  .action(openBoxes)

/** Meant to run on a machine that is not a server. */
async function makeKey(file: string): Promise<void> {
  const { publicKey, privateKey } = await createKeyPair()
  // Never overwrites a key: what was sealed with it could no longer be opened.
  await writeFile(file, privateKey, { flag: 'wx', mode: 0o600 })
  print(`EVIDENCE_KEY=${publicKey}`)
  process.stderr.write(`The private key is in ${file}. Keep it and a backup copy off all servers.\n`)
}

async function openBoxes(keyFile: string, boxes: string[], { to }: { to: string }): Promise<void> {
  const privateKey = await readFile(keyFile, 'utf8')
  await mkdir(to, { recursive: true, mode: 0o700 })
  for (const box of boxes) {
    try {
      print(`${await openBox(box, privateKey, to)}: opened`)
    } catch (error) {
      process.stderr.write(`${box}: ${(error as Error).message}\n`)
      process.exitCode = 1
    }
  }
}

/** Returns the image's ID. */
async function openBox(box: string, privateKey: string, to: string): Promise<string> {
  const { facts, bytes } = readOpened(await open(await readFile(box), privateKey))
  const { id, type, size, preview } = facts.record
  const put = (name: string, content: string | Uint8Array) =>
    writeFile(join(to, `${id}.${name}`), content, { mode: 0o600 })
  await put(type.slice('image/'.length), bytes.subarray(0, size))
  const range = previewRange(facts.record)
  if (preview !== undefined && range !== null) {
    await put(`preview.${preview.type.slice('image/'.length)}`, bytes.subarray(range.first, range.last + 1))
  }
  await put('json', `${JSON.stringify(facts, null, 2)}\n`)
  return id
}

function sealedFiles() {
  return openEvidenceFiles(parseConfig(process.env))
}
