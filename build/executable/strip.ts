/** Strips debug information from executables: a seventh of Node's size. Like strip(1), but for any architecture. */

/** Offsets and sizes in a 64-bit ELF file (elf(5)). */
const SECTION_BYTES = 64
const NOBITS = 8
const ALLOC = 2n

interface Section {
  header: Buffer
  type: number
  isLoaded: boolean
  offset: number
  size: number
}

/** A copy of `elf` (64-bit, little-endian) without sections that are never loaded. Throws if sections are out of order. */
export function stripped(elf: Buffer): Buffer {
  if (elf.readUInt32BE(0) !== 0x7f454c46 || elf[4] !== 2 || elf[5] !== 1)
    throw new Error('not a 64-bit ELF file')
  const sections = sectionsOf(elf)
  const kept = sections.slice(0, sections.findLastIndex(({ isLoaded }) => isLoaded) + 1)
  const end = Math.max(...kept.map(({ type, offset, size }) => (type === NOBITS ? offset : offset + size)))
  const names = sections[elf.readUInt16LE(0x3e)]!
  if (sections.slice(kept.length).some(({ offset }) => offset < end))
    throw new Error('sections are not in order')

  const namesHeader = Buffer.from(names.header)
  namesHeader.writeBigUInt64LE(BigInt(end), 0x18)
  const padding = Buffer.alloc(-(end + names.size) & 7)
  const head = Buffer.from(elf.subarray(0, end))
  head.writeBigUInt64LE(BigInt(end + names.size + padding.length), 0x28)
  head.writeUInt16LE(kept.length + 1, 0x3c)
  head.writeUInt16LE(kept.length, 0x3e)
  return Buffer.concat([
    head,
    elf.subarray(names.offset, names.offset + names.size),
    padding,
    ...kept.map(({ header }) => header),
    namesHeader,
  ])
}

function sectionsOf(elf: Buffer): Section[] {
  const start = Number(elf.readBigUInt64LE(0x28))
  return Array.from({ length: elf.readUInt16LE(0x3c) }, (_, index) => {
    const header = elf.subarray(start + index * SECTION_BYTES, start + (index + 1) * SECTION_BYTES)
    return {
      header,
      type: header.readUInt32LE(4),
      isLoaded: (header.readBigUInt64LE(8) & ALLOC) !== 0n,
      offset: Number(header.readBigUInt64LE(0x18)),
      size: Number(header.readBigUInt64LE(0x20)),
    }
  })
}
