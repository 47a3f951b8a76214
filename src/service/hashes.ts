import type { Pbkdf2 } from '../proof-of-work.ts'

/** Hashes, provided by the host. Synchronous for short strings, of which each upload hashes two: promises would be costly. */
export interface Hashes {
  /** SHA-256 of a string's UTF-8 bytes, lower-case hex. */
  sha256(text: string): string
  /** HMAC-SHA-256 (RFC 2104) of a string's UTF-8 bytes, lower-case hex. `key` must not be modified afterwards. */
  hmacSha256(key: Uint8Array, text: string): string
  /** Provided where it is faster than Web Crypto's. */
  pbkdf2?: Pbkdf2
  /** Incremental digest. Algorithm names as in RFC 9530. `digest`: base64. */
  running(algorithm: 'sha-256' | 'sha-512'): {
    update(bytes: Uint8Array): unknown
    digest(): string | Promise<string>
  }
}
