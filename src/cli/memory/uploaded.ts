import { toHex } from '../../bytes.ts'
import type { Mode } from '../../client/types.ts'
import type { Entry, History } from './history.ts'

/** What this machine uploaded to one service before, by the digests of the files. */
export interface Uploaded {
  /** The newest upload of the same bytes in the same mode that stays until it is deleted. */
  find(sha256: string, mode: Mode): Entry | undefined
}

/** `server`: the address of the service, as uploads remember it. */
export async function readUploaded(history: History, server: string): Promise<Uploaded> {
  const byFile = new Map<string, Entry>()
  for (const entry of await history.list()) {
    if (entry.sha256 !== undefined && entry.expires === undefined && entry.server === server)
      byFile.set(`${entry.mode} ${entry.sha256}`, entry)
  }
  return { find: (sha256, mode) => byFile.get(`${mode} ${sha256}`) }
}

/** SHA-256, lower-case hex. */
export async function digestOf(file: Blob): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', await file.arrayBuffer())))
}
