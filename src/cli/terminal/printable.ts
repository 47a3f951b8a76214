/** Control characters, and those that turn the direction of writing (Unicode TR 9). */
const UNSAFE = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Strangers' text, e.g. the name of a file or what a service says, so that a terminal shows it and obeys none of it. */
export function printable(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}

/** JSON for a terminal: escapes all of `UNSAFE`. `JSON.stringify` leaves U+007F to U+009F and bidi marks as they are. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value).replace(
    UNSAFE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
