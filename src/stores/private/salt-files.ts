/**
 * Salts in small files on this machine, one each, so that no database keeps a second copy and each can be erased on its own.
 * Shared by the processes of the machine.
 */
import { link, mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ignoring, isFull, unlessAbsent } from '../disk/faults.ts'
import { flushFolder } from '../disk/flush-folder.ts'
import { writeFlushed } from '../disk/write-flushed.ts'
import { LedgerFull, LedgerUnavailable } from '../ledger.ts'
import { eraseFile } from './erase.ts'

/** The last group is the suffix of a file being written. */
const NAME = /(?:^|-)salt-(\d{4}-\d{2}-\d{2})(?:-([a-z]+))?(?:\.[0-9a-f-]+)?$/

const SALT = /^[0-9a-f]{64}$/

/** Salts are hex; keys are a day (YYYY-MM-DD, UTC), or a day, a space and a purpose. */
export function saltFiles(folder: string) {
  const pathOf = (key: string) => join(folder, `salt-${key.replace(' ', '-')}`)

  async function read(key: string): Promise<string | null> {
    const salt = await readFile(pathOf(key), 'utf8').catch(unlessAbsent(null))
    if (salt !== null && !SALT.test(salt)) throw new Error(`${pathOf(key)} is damaged`)
    return salt
  }

  async function keep(key: string, salt: string): Promise<string> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    if ((await read(key)) === null) await create(pathOf(key), salt)
    // Even if another process created it: uploads are counted under this salt, and must not outlive it after a power cut.
    await flushFolder(folder)
    return (await read(key)) ?? keep(key, salt)
  }

  async function create(path: string, salt: string): Promise<void> {
    const draft = `${path}.${crypto.randomUUID()}`
    try {
      await writeFlushed(draft, salt)
      // Of several concurrent processes, only one creates the link.
      await link(draft, path).catch(ignoring('EEXIST'))
    } finally {
      // If another process won, nothing was derived from this salt: no need to erase its bytes.
      await rm(draft, { force: true })
    }
  }

  return {
    /** `null` if there is none. */
    read: (key: string) => read(key).catch(ledgerFault),

    /** Stores `salt` unless the key already has one. Resolves to the stored salt, once it is durable. */
    keep: (key: string, salt: string) => keep(key, salt).catch(ledgerFault),

    async forget(isExpired: (key: string) => boolean): Promise<void> {
      for (const name of await readdir(folder).catch(unlessAbsent([]))) {
        const [, day, purpose] = NAME.exec(name) ?? []
        if (day !== undefined && isExpired(purpose === undefined ? day : `${day} ${purpose}`)) {
          await eraseFile(join(folder, name))
        }
      }
    },
  }
}

/** Translates a full or failing disk to an error of the ledger. */
function ledgerFault(error: unknown): never {
  if (isFull(error)) throw new LedgerFull('free up space on the disk of DATA_DIR', { cause: error })
  throw error instanceof Error && 'code' in error ? new LedgerUnavailable({ cause: error }) : error
}
