/** Hashes without a trip to another thread. */
import { createHash, createHmac, hash } from 'node:crypto'
import type { Hashes } from '../service/hashes.ts'

export const nodeHashes: Hashes = {
  sha256: (text) => hash('sha256', text),
  hmacSha256: (key, text) => createHmac('sha256', key).update(text).digest('hex'),
  running(algorithm) {
    const running = createHash(algorithm.replace('-', ''))
    return { update: (bytes) => running.update(bytes), digest: () => running.digest('base64') }
  },
}
