/** Converts bytes to text and back, one character per byte. */

/** Engines limit the number of arguments of a call. */
const MAX_ARGUMENTS = 8192

/**
 * Decodes ISO 8859-1. Not `TextDecoder('latin1')`: that is windows-1252, which remaps the bytes from 0x80 to 0x9F. Names and
 * numbers are ASCII in every header and packet that is read here.
 */
export function latin1(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += MAX_ARGUMENTS) {
    // `apply`, not spread: spreading iterates the typed array and is twenty times as slow.
    text += String.fromCharCode.apply(null, bytes.subarray(at, at + MAX_ARGUMENTS) as never)
  }
  return text
}

/** The inverse of `latin1`. */
export function ascii(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}
