/** Synchronous hashes of short texts, since Web Crypto is asynchronous; the runtime's own for bodies sent with a digest. */
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { toHex } from '../bytes.ts'
import type { Hashes } from '../service/hashes.ts'
import { runningDigest } from '../stores/r2/runtime.ts'

const utf8 = (text: string) => new TextEncoder().encode(text)

export const workerHashes: Hashes = {
  sha256: (text) => toHex(sha256(utf8(text))),
  hmacSha256: (key, text) => toHex(hmac(sha256, key, utf8(text))),
  running(algorithm) {
    const { update, end } = runningDigest(algorithm === 'sha-256' ? 'SHA-256' : 'SHA-512')
    return { update, digest: async () => btoa(String.fromCharCode(...(await end()))) }
  },
}
