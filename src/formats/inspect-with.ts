/** What every way into `formats/` shares, whether inspectors are at hand or fetched when one is needed. */
import { Refusal } from '../errors.ts'
import type { ImageType } from '../protocol.ts'
import { checkDimensions } from './damaged.ts'
import { type ByteSource, type Inspection, type Inspector, PIECE_BYTES, wholeOf } from './image.ts'
import { sniff, sniffOther } from './sniff.ts'

const ACCEPTED = 'JPEG, PNG, GIF, WebP or AVIF'

/** As `inspect`, with inspectors from anywhere. `inspectorOf` is asked once, for the type that the bytes have. */
export async function inspectWith(
  inspectorOf: (type: ImageType) => Inspector | Promise<Inspector>,
  source: ByteSource,
  options: { strip?: boolean } = {},
): Promise<Inspection> {
  const head = await source.read(0, Math.min(PIECE_BYTES, source.size))
  const type = sniff(head)
  if (!type) {
    const other = sniffOther(head)
    throw new Refusal(
      'unsupported-type',
      `${other ? `This is ${other.name}` : 'This is not an image of a known type'}. Accepted are ${ACCEPTED}.`,
    )
  }
  const inspector = await inspectorOf(type)
  const inspection = await inspector(remembering(source, head))
  checkDimensions(inspection.width, inspection.height)
  return options.strip === false ? { ...inspection, segments: wholeOf(source) } : inspection
}

/** The same source, with its first window in hand: most files are no longer than that, and are read once. */
function remembering(source: ByteSource, head: Uint8Array): ByteSource {
  return {
    size: source.size,
    read: async (offset, length) =>
      Math.min(offset + length, source.size) <= head.length
        ? head.subarray(offset, offset + length)
        : source.read(offset, length),
  }
}
