/** The common part of all entry points to `formats/`, whether inspectors are bundled or loaded on demand. */
import { Refusal } from '../errors.ts'
import type { ImageType } from '../protocol.ts'
import { checkDimensions } from './damaged.ts'
import { type ByteSource, CHUNK_BYTES, type Inspection, type Inspector, wholeFile } from './image.ts'
import { sniff, sniffUnsupported } from './sniff.ts'

const ACCEPTED = 'JPEG, PNG, GIF, WebP or AVIF'

/** `inspect` with pluggable inspectors. Calls `inspectorOf` once, with the type sniffed from the bytes. */
export async function inspectWith(
  inspectorOf: (type: ImageType) => Inspector | Promise<Inspector>,
  source: ByteSource,
  options: { strip?: boolean } = {},
): Promise<Inspection> {
  const head = await source.read(0, Math.min(CHUNK_BYTES, source.size))
  const type = sniff(head)
  if (!type) {
    const other = sniffUnsupported(head)
    throw new Refusal(
      'unsupported-type',
      `${other ? `This is ${other.name}` : 'This is not an image of a known type'}. Please use ${ACCEPTED}.`,
    )
  }
  const inspector = await inspectorOf(type)
  const inspection = await inspector(withCachedHead(source, head))
  checkDimensions(inspection.width, inspection.height)
  return options.strip === false ? { ...inspection, segments: wholeFile(source) } : inspection
}

/** `source` with its first window cached: most files are no larger, so they are read only once. */
function withCachedHead(source: ByteSource, head: Uint8Array): ByteSource {
  return {
    size: source.size,
    read: async (offset, length) =>
      Math.min(offset + length, source.size) <= head.length
        ? head.subarray(offset, offset + length)
        : source.read(offset, length),
  }
}
