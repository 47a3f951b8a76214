/** Synchronous hashes, since Web Crypto is asynchronous. For short texts, and for bodies sent with a digest. */
import { hmac } from '@noble/hashes/hmac.js'
import { sha256, sha512 } from '@noble/hashes/sha2.js'
import { toHex } from '../bytes.ts'
import type { Hashes } from '../service/hashes.ts'

const utf8 = (text: string) => new TextEncoder().encode(text)

export const workerHashes: Hashes = {
  sha256: (text) => toHex(sha256(utf8(text))),
  hmacSha256: (key, text) => toHex(hmac(sha256, key, utf8(text))),
  running(algorithm) {
    const running = (algorithm === 'sha-256' ? sha256 : sha512).create()
    return {
      update: (bytes) => running.update(bytes),
      digest: () => btoa(String.fromCharCode(...running.digest())),
    }
  },
}
