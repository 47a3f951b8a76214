/** Hashes of short texts without a trip to another thread. */
import { createHmac, hash } from 'node:crypto'
import type { Hashes } from '../service/hashes.ts'

export const nodeHashes: Hashes = {
  sha256: (text) => hash('sha256', text),
  hmacSha256: (key, text) => createHmac('sha256', key).update(text).digest('hex'),
}
