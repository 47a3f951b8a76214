/** IDs and deletion keys: random, opaque, base 62. */
import { ID_LENGTH, ID_PATTERN } from '../../protocol.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
export const KEY_SECRET_LENGTH = 32

/** Bytes from here up are rejected, as they would make some characters likelier than others. */
const FAIR_BYTE_LIMIT = 256 - (256 % ALPHABET.length)

/** 11 characters: 65 random bits. */
export function newId(): string {
  return randomText(ID_LENGTH)
}

/** The ID followed by 32 characters: 190 random bits. As the key contains the ID, no index of keys is needed. */
export function newKey(id: string): string {
  return id + randomText(KEY_SECRET_LENGTH)
}

/** Extracts the ID from pasted text: an ID, or a URL that ends with one. `null` if there is none. */
export function idIn(text: string): string | null {
  const id = text
    .trim()
    .replace(/[?#].*/s, '')
    .replace(/^.*\//, '')
    .replace(/\.\w+$/, '')
  return ID_PATTERN.test(id) ? id : null
}

export function idOfKey(key: string): string {
  return key.slice(0, ID_LENGTH)
}

/** The last `length` base-62 digits of a number. From 256 uniform bits, up to 40 digits are practically uniform. */
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

/** Pool of random bytes: one call per ID would cost more than the rest of its creation. */
const pool = new Uint8Array(1024)
let next = pool.length

function randomText(length: number): string {
  let text = ''
  while (text.length < length) {
    if (next === pool.length) {
      crypto.getRandomValues(pool)
      next = 0
    }
    const byte = pool[next]!
    // So that used bytes don't linger in memory.
    pool[next++] = 0
    if (byte < FAIR_BYTE_LIMIT) text += ALPHABET[byte % ALPHABET.length]
  }
  return text
}

/** Compares two strings in a time that does not reveal where they differ. */
export function equalInConstantTime(a: string, b: string): boolean {
  let difference = a.length ^ b.length
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i % b.length)
  return difference === 0
}
