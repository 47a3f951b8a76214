/** Hashes without a trip to another thread. */
import { createHash, createHmac, hash, pbkdf2Sync } from 'node:crypto'
import type { Hashes } from '../service/hashes.ts'

export const nodeHashes = {
  sha256: (text) => hash('sha256', text),
  hmacSha256: (key, text) => createHmac('sha256', key).update(text).digest('hex'),
  // A proof of work's two tries are 0.4 ms; through Web Crypto's threads they cost twice that.
  pbkdf2: (password) => (salt, iterations) => pbkdf2Sync(password, salt, iterations, 32, 'sha256'),
  running(algorithm) {
    const running = createHash(algorithm.replace('-', ''))
    return { update: (bytes) => running.update(bytes), digest: () => running.digest('base64') }
  },
} satisfies Hashes
