/** Bytes as text and back, one character a byte. */

/** A call takes only so many arguments. */
const CHARACTERS_AT_ONCE = 8192

/**
 * Names and numbers are ASCII in every header and packet that matters. A TextDecoder's "latin1" is windows-1252, which
 * moves the bytes from 0x80 to 0x9F.
 */
export function latin1(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += CHARACTERS_AT_ONCE) {
    // Spread, a typed array is iterated: twenty times as slow.
    text += String.fromCharCode.apply(null, bytes.subarray(at, at + CHARACTERS_AT_ONCE) as never)
  }
  return text
}

/** The inverse of `latin1`. */
export function ascii(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}
