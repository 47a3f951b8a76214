/** Hashes of short texts, without a promise: each upload needs two. The host has them. */
export interface Hashes {
  /** SHA-256 of a text's UTF-8 bytes, lower-case hex. */
  sha256(text: string): string
  /** HMAC-SHA-256 (RFC 2104) of a text's UTF-8 bytes, lower-case hex. */
  hmacSha256(key: Uint8Array, text: string): string
}
