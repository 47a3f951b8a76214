import { cutOff } from '../damaged.ts'

/** Fields of a codestream, the lowest bit of a byte first (ISO/IEC 18181-1, 5.2 and 9). Every read is bounds-checked. */
export interface Bits {
  /** `count`: 0 to 32 bits. */
  u(count: number): number
  bool(): boolean
  /** One of four values, by two bits: a number, or so many bits more than a number. */
  u32(...choices: [Choice, Choice, Choice, Choice]): number
  enumerated(): number
  skip(count: number): void
}

type Choice = number | { bits: number; plus: number }

export function createBits(bytes: Uint8Array): Bits {
  let at = 0
  const u = (count: number) => {
    let value = 0
    for (let bit = 0; bit < count; bit++, at++) {
      const byte = bytes[at >> 3]
      if (byte === undefined) throw cutOff('JPEG XL')
      value += ((byte >> (at & 7)) & 1) * 2 ** bit
    }
    return value
  }
  const u32: Bits['u32'] = (...choices) => {
    const choice = choices[u(2)]!
    return typeof choice === 'number' ? choice : choice.plus + u(choice.bits)
  }
  return {
    u,
    bool: () => u(1) === 1,
    u32,
    enumerated: () => u32(0, 1, { bits: 4, plus: 2 }, { bits: 6, plus: 18 }),
    skip(count) {
      at += count
      if (at > 8 * bytes.length) throw cutOff('JPEG XL')
    },
  }
}

/** `plus` and `bits` bits more. */
export function more(bits: number, plus = 0): Choice {
  return { bits, plus }
}
