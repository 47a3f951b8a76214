/** Hashes without a trip to another thread. */
import { createHash, hash } from 'node:crypto'
import type { Hashes } from '../service/hashes.ts'

export const nodeHashes: Hashes = {
  sha256: (text) => hash('sha256', text),
  hmacSha256: (key, text) => {
    const { inner, outer } = paddedKey(key)
    // Over what `crypto.createHmac` does it saves an object that the collector must destroy, three times an upload.
    return hash(
      'sha256',
      Buffer.concat([outer, hash('sha256', Buffer.concat([inner, Buffer.from(text)]), 'buffer')]),
    )
  },
  running(algorithm) {
    const running = createHash(algorithm.replace('-', ''))
    return { update: (bytes) => running.update(bytes), digest: () => running.digest('base64') }
  },
}

const BLOCK_BYTES = 64

const paddedKeys = new WeakMap<Uint8Array, { inner: Buffer; outer: Buffer }>()

/** RFC 2104, 2: the key in the first block of either hash. */
function paddedKey(key: Uint8Array): { inner: Buffer; outer: Buffer } {
  let padded = paddedKeys.get(key)
  if (padded === undefined) {
    const short = key.length > BLOCK_BYTES ? hash('sha256', key, 'buffer') : key
    const filled = (byte: number) => Buffer.alloc(BLOCK_BYTES, byte).map((pad, at) => pad ^ (short[at] ?? 0))
    padded = { inner: Buffer.from(filled(0x36)), outer: Buffer.from(filled(0x5c)) }
    paddedKeys.set(key, padded)
  }
  return padded
}
