/** Private metadata as written by cameras and editors. Every text in it contains the word SECRET. */
import { box } from './avif/boxes.ts'

/**
 * A little-endian TIFF structure. Values longer than four bytes follow the directories. `within`: the pointer of the directory
 * that points to it; default: the first one.
 */
export function tiff(ifd0: TiffEntry[], directories: TiffDirectory[] = []): Buffer {
  const pointers: TiffEntry[] = directories.map(({ pointer }) => ({ tag: pointer, type: 4, value: [0] }))
  const all = [{ pointer: undefined, entries: ifd0 }, ...directories].map(({ pointer, entries }) => ({
    entries: [...entries, ...pointers.filter((_, index) => directories[index]!.within === pointer)],
  }))
  const starts: number[] = []
  let at = 8
  for (const { entries } of all) {
    starts.push(at)
    at += 2 + entries.length * 12 + 4
  }
  directories.forEach((_, index) => {
    pointers[index]!.value = [starts[index + 1]!]
  })
  const out = Buffer.alloc(64 * 1024)
  out.write('II*\0', 'latin1')
  out.writeUInt32LE(8, 4)
  for (const [index, { entries }] of all.entries()) {
    let entryAt = starts[index]!
    entryAt = out.writeUInt16LE(entries.length, entryAt)
    for (const { tag, type, value } of entries.toSorted((a, b) => a.tag - b.tag)) {
      const bytes = encoded(type, value)
      out.writeUInt16LE(tag, entryAt)
      out.writeUInt16LE(type, entryAt + 2)
      out.writeUInt32LE(
        typeof value === 'string' ? bytes.length : value.length / (type === 5 ? 2 : 1),
        entryAt + 4,
      )
      if (bytes.length <= 4) {
        bytes.copy(out, entryAt + 8)
      } else {
        out.writeUInt32LE(at, entryAt + 8)
        bytes.copy(out, at)
        at += bytes.length + (bytes.length & 1)
      }
      entryAt += 12
    }
  }
  return out.subarray(0, at)
}

interface TiffDirectory {
  pointer: number
  within?: number
  entries: TiffEntry[]
}

export interface TiffEntry {
  tag: number
  /** 2 text, 3 short, 4 long, 5 fractions (numerators and denominators alternate), 7 bytes. */
  type: 2 | 3 | 4 | 5 | 7
  value: string | number[]
}

function encoded(type: TiffEntry['type'], value: TiffEntry['value']): Buffer {
  if (typeof value === 'string') return Buffer.from(`${value}\0`)
  const size = { 2: 1, 3: 2, 4: 4, 5: 4, 7: 1 }[type]
  const out = Buffer.alloc(value.length * size)
  for (const [index, number] of value.entries()) out.writeUIntLE(number, index * size, size)
  return out
}

const GPS: TiffEntry[] = [
  { tag: 1, type: 2, value: 'N' },
  { tag: 2, type: 5, value: [48, 1, 51, 1, 2999, 100] },
  { tag: 3, type: 2, value: 'E' },
  { tag: 4, type: 5, value: [2, 1, 17, 1, 4012, 100] },
]

/** Exif of a phone: maker, model, owner, times, serial number, maker note, and location. */
export function cameraExif(
  options: { orientation?: number; density?: number; location?: boolean; interoperability?: string } = {},
): Buffer {
  const { orientation, density, location = true, interoperability } = options
  const ifd0: TiffEntry[] = [
    { tag: 0x010e, type: 2, value: 'SECRET description' },
    { tag: 0x010f, type: 2, value: 'SECRET maker' },
    { tag: 0x0110, type: 2, value: 'SECRET model' },
    { tag: 0x0131, type: 2, value: 'SECRET software' },
    { tag: 0x0132, type: 2, value: '2024:05:06 07:08:09' },
    { tag: 0x013b, type: 2, value: 'SECRET artist' },
    { tag: 0x8298, type: 2, value: 'SECRET copyright' },
  ]
  if (orientation) ifd0.push({ tag: 0x0112, type: 3, value: [orientation] })
  if (density) {
    ifd0.push(
      { tag: 0x011a, type: 5, value: [density, 1] },
      { tag: 0x011b, type: 5, value: [density, 1] },
      { tag: 0x0128, type: 3, value: [2] },
    )
  }
  const directories: TiffDirectory[] = [
    {
      pointer: 0x8769,
      entries: [
        { tag: 0x9003, type: 2, value: '2024:05:06 07:08:09' },
        { tag: 0x927c, type: 7, value: [...Buffer.from('SECRET maker note'.repeat(20))] },
        { tag: 0xa430, type: 2, value: 'SECRET owner' },
        { tag: 0xa431, type: 2, value: 'SECRET serial number' },
      ],
    },
  ]
  if (location) directories.push({ pointer: 0x8825, entries: GPS })
  if (interoperability) {
    directories.push({
      pointer: 0xa005,
      within: 0x8769,
      entries: [
        { tag: 1, type: 2, value: interoperability },
        { tag: 0x1000, type: 2, value: 'SECRET related file' },
      ],
    })
  }
  return tiff(ifd0, directories)
}

/** XMP of an image editor. */
export function editorXmp(location = false): Buffer {
  const place = location ? ' exif:GPSLatitude="48,51.5N" exif:GPSLongitude="2,17.7E"' : ''
  return Buffer.from(
    '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">' +
      '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description' +
      ' xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/"' +
      ' xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:xmpMM="http://ns.adobe.com/xap/1.0/mm/"' +
      ` xmp:CreatorTool="SECRET tool" xmpMM:DocumentID="SECRET document"${place}>` +
      '<dc:creator><rdf:Seq><rdf:li>SECRET creator</rdf:li></rdf:Seq></dc:creator>' +
      '</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>',
  )
}

/** A Photoshop resource block with IPTC data, for APP13. */
export function photoshopBlock(): Buffer {
  const record = (dataset: number, text: string) =>
    Buffer.concat([Buffer.from([0x1c, 2, dataset, 0, text.length]), Buffer.from(text)])
  const iptc = Buffer.concat([
    record(80, 'SECRET byline'),
    record(90, 'SECRET city'),
    record(120, 'SECRET caption'),
  ])
  const padded = iptc.length & 1 ? Buffer.concat([iptc, Buffer.alloc(1)]) : iptc
  return Buffer.concat([
    Buffer.from('Photoshop 3.0\x008BIM\x04\x04\0\0\0\0', 'latin1'),
    Buffer.from([iptc.length >> 8, iptc.length & 255]),
    padded,
  ])
}

/** The start of a C2PA manifest store: a JUMBF superbox (ISO 19566-5). */
export function c2paManifest(): Buffer {
  const label = '\x63\x32\x70\x61\0\x11\0\x10\x80\0\0\xaa\0\x38\x9b\x71\x03c2pa\0'
  return Buffer.from(box('jumb', box('jumd', label), box('json', 'SECRET claim generator')))
}
