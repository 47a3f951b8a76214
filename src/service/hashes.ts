import type { Pbkdf2 } from '../proof-of-work.ts'

/** Hashes without a promise: each upload needs two of short texts. The host has them. */
export interface Hashes {
  /** SHA-256 of a text's UTF-8 bytes, lower-case hex. */
  sha256(text: string): string
  /** HMAC-SHA-256 (RFC 2104) of a text's UTF-8 bytes, lower-case hex. `key` never changes. */
  hmacSha256(key: Uint8Array, text: string): string
  /** Where it is faster than Web Crypto's. */
  pbkdf2?: Pbkdf2
  /** Digests bytes that come in pieces. `digest`: base64. Named as RFC 9530 does. */
  running(algorithm: 'sha-256' | 'sha-512'): { update(bytes: Uint8Array): void; digest(): string }
}
