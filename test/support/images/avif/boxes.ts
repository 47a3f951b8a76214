/** Encodes boxes of ISO/IEC 14496-12. */
import { concatBytes } from '../../../../src/bytes.ts'

type Part = Uint8Array | number[] | string

export function bytes(...parts: Part[]): Uint8Array {
  return concatBytes(
    ...parts.map((part) =>
      typeof part === 'string'
        ? Buffer.from(part, 'latin1')
        : Array.isArray(part)
          ? Uint8Array.from(part)
          : part,
    ),
  )
}

export function u16(...values: number[]): Uint8Array {
  return Uint8Array.from(values.flatMap((value) => [value >> 8, value]))
}

export function u32(...values: number[]): Uint8Array {
  return u32s(values)
}

/** Like `u32`, for more values than a call can take arguments. */
export function u32s(values: number[]): Uint8Array {
  const out = new Uint8Array(4 * values.length)
  const view = new DataView(out.buffer)
  for (const [index, value] of values.entries()) view.setUint32(4 * index, value)
  return out
}

export function box(type: string, ...parts: Part[]): Uint8Array {
  const body = bytes(...parts)
  return bytes(u32(8 + body.length), type, body)
}

/** A box with a 64-bit size. */
export function largeBox(type: string, ...parts: Part[]): Uint8Array {
  const body = bytes(...parts)
  return bytes(u32(1), type, u32(0, 16 + body.length), body)
}

export function fullBox(type: string, version: number, flags: number, ...parts: Part[]): Uint8Array {
  return box(type, u32((version << 24) | flags), ...parts)
}
