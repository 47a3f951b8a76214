/** Ids and deletion keys: random, opaque, of one alphabet. */
import { ID_LENGTH, ID_PATTERN } from '../../protocol.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
export const KEY_SECRET_LENGTH = 32

/** Bytes from here on would make some characters likelier than others. */
const FAIR_BYTE_LIMIT = 256 - (256 % ALPHABET.length)

/** 11 characters: 65 random bits. */
export function newId(): string {
  return randomText(ID_LENGTH)
}

/** The id, then 32 characters: 190 random bits. The id inside finds the image, so no index of keys is needed. */
export function newKey(id: string): string {
  return id + randomText(KEY_SECRET_LENGTH)
}

/** The id in what a person pasted: an id, or an address that ends with one. */
export function idIn(text: string): string | null {
  const id = text
    .trim()
    .replace(/[?#].*$/, '')
    .replace(/^.*\//, '')
    .replace(/\.\w+$/, '')
  return ID_PATTERN.test(id) ? id : null
}

export function idOfKey(key: string): string {
  return key.slice(0, ID_LENGTH)
}

/** The last `length` digits of a number in base 62. From 256 even bits they are as good as even up to 40 digits. */
export function base62OfHex(hex: string, length: number): string {
  const base = BigInt(ALPHABET.length)
  let number = BigInt(`0x${hex}`)
  let text = ''
  while (text.length < length) {
    text = ALPHABET[Number(number % base)]! + text
    number /= base
  }
  return text
}

/** Drawn a few hundred at a time: a call for each id would cost more than all else about it. */
const drawn = new Uint8Array(1024)
let next = drawn.length

function randomText(length: number): string {
  let text = ''
  while (text.length < length) {
    if (next === drawn.length) {
      crypto.getRandomValues(drawn)
      next = 0
    }
    const byte = drawn[next]!
    // Nobody finds it here later.
    drawn[next++] = 0
    if (byte < FAIR_BYTE_LIMIT) text += ALPHABET[byte % ALPHABET.length]
  }
  return text
}

/** Compares two texts in a time that does not tell where they differ. */
export function equalInConstantTime(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i % b.length)
  return difference === 0
}
