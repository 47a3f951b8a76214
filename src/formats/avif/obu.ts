/** Headers of AV1's open bitstream units (AV1 bitstream specification, 5.3). */

/** The longest header: two bytes and a size of up to eight (4.10.5). Unit: bytes. */
export const MAX_HEADER_BYTES = 10

export const SEQUENCE_HEADER = 1
export const TEMPORAL_DELIMITER = 2
export const PADDING = 15
/** A payload of padding ends in a one and zeros (5.3.4); decoders check that. */
export const TRAILING_BITS = 0x80

export interface Obu {
  type: number
  /** Length of the header. Unit: bytes. */
  body: number
  /** Of what follows it. Unit: bytes. */
  size: number
}

/** `left`: what the data still holds, for a last unit that does not say its size. */
export function obuFrom(header: Uint8Array, left: number): Obu | null {
  const [first] = header
  if (first === undefined || first & 0x80) return null
  const type = (first >> 3) & 15
  let body = first & 0x04 ? 2 : 1
  if (!(first & 0x02)) return { type, body, size: left - body }
  let size = 0
  for (let i = 0; i < 8; i++) {
    const byte = header[body++]
    if (byte === undefined) return null
    size += (byte & 0x7f) * 2 ** (7 * i)
    if (byte < 0x80) return { type, body, size }
  }
  return null
}
