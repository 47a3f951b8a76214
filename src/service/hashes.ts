/** Hashes of short texts. A host that has them without a promise is faster: each upload needs two. */
import { toHex } from './ids.ts'

export interface Hashes {
  /** SHA-256 of a text's UTF-8 bytes, lower-case hex. */
  sha256(text: string): string | Promise<string>
  /** HMAC-SHA-256 (RFC 2104) of a text's UTF-8 bytes, lower-case hex. */
  hmacSha256(key: Uint8Array, text: string): string | Promise<string>
}

/** On Web Crypto: everywhere. */
export const webHashes: Hashes = {
  async sha256(text) {
    return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))))
  },
  async hmacSha256(key, text) {
    const algorithm = { name: 'HMAC', hash: 'SHA-256' }
    const imported = await crypto.subtle.importKey('raw', new Uint8Array(key), algorithm, false, ['sign'])
    return toHex(new Uint8Array(await crypto.subtle.sign('HMAC', imported, new TextEncoder().encode(text))))
  },
}
