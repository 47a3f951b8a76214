/** Walks a JPEG from SOI to EOI (ITU-T T.81, annex B) and checks what can be checked without decoding. */
import { cursorOver } from '../bytes/cursor.ts'
import { latin1 } from '../bytes/text.ts'
import { cutOff, damaged } from '../damaged.ts'
import type { ByteSource } from '../image.ts'
import { type ExifFacts, readExif } from '../metadata/exif.ts'
import {
  checkHuffman,
  countBlocks,
  isFrame,
  type JpegFrame,
  type JpegScan,
  leastScanBytes,
  readFrame,
  readQuantisation,
  readScan,
} from './header.ts'
import { isStandalone, markerAt, passScan } from './markers.ts'
import {
  APP0,
  COM,
  classify,
  DAC,
  DHT,
  DNL,
  DQT,
  DRI,
  EOI,
  type JpegKind,
  type JpegSegment,
  nameOfKind,
  SOI,
  SOS,
} from './segments.ts'

export interface Jpeg {
  /** From SOI to EOI, without a gap. */
  segments: JpegSegment[]
  /** Just after EOI. Unit: bytes. */
  end: number
  frame: JpegFrame
  /** As the first scan found them: 64 values in zigzag order, by table. */
  quantisation: (Uint16Array | undefined)[]
  exif: ExifFacts
  /** The main XMP packet, or nothing. */
  xmp: string
}

/** A photo has some dozens; large depth maps and manifests come in segments of 64 KB. */
const MAX_JPEG_SEGMENTS = 4096

const NOTHING = new Uint8Array(0)

/** Of these kinds the first segment counts; a scrubbed file has one at most. */
const SINGLE: ReadonlySet<JpegKind> = new Set(['exif', 'xmp', 'mpf', 'gain-map'])

/** Reads the JPEG that starts at `start`. Throws `Refusal('damaged-image')`. */
export async function walkJpeg(source: ByteSource, start = 0, end = source.size): Promise<Jpeg> {
  const cursor = cursorOver(source, { end })
  const walk = newWalk()
  for (let at = start; ; ) {
    const { marker, bodyAt } = await markerAt(cursor, at)
    if ((marker === SOI) !== (at === start)) {
      throw damaged('The JPEG file is inconsistent: an image must start once, and at its start.')
    }
    let after = bodyAt
    if (isStandalone(marker)) {
      walk.add({ marker, kind: 'picture', offset: at, length: after - at })
    } else {
      const bytes = cursor.peek(bodyAt, 2) ?? (await cursor.load(bodyAt, 2))
      const length = (bytes[0]! << 8) | bytes[1]!
      if (bytes.length < 2) throw cutOff('JPEG')
      if (length < 2)
        throw damaged('The JPEG file is inconsistent: a segment is shorter than its own length field.')
      const segment = cursor.peek(bodyAt, length) ?? (await cursor.load(bodyAt, length))
      if (segment.length < length) throw cutOff('JPEG')
      after = bodyAt + length
      const scan = walk.read(marker, segment.subarray(2, length), at, after - at)
      if (scan) {
        const coded = await passScan(cursor, after, walk.restartInterval > 0)
        walk.checkScan(scan, coded.end - after, coded.restarts)
        walk.segments.at(-1)!.length = coded.end - at
        after = coded.end
      }
    }
    at = after
    if (marker === EOI) return walk.finish(at)
  }
}

/** What a walk has learnt so far. */
function newWalk() {
  const segments: JpegSegment[] = []
  const quantisation: (Uint16Array | undefined)[] = []
  const seen = new Set<JpegKind>()
  const drawn = new Set<number>()
  let frame: JpegFrame | undefined
  let restartInterval = 0
  let scans = 0

  function add(segment: JpegSegment): void {
    if (segments.length >= MAX_JPEG_SEGMENTS) throw damaged('The JPEG file is in too many pieces.')
    segments.push(segment)
  }

  function addApplication(marker: number, body: Uint8Array, offset: number, length: number): void {
    const { kind, bodyBytes } = classify(marker, body)
    // Decoders ask no more once the picture has begun.
    if (scans > 0 || (SINGLE.has(kind) && seen.has(kind))) {
      add({ marker, kind: 'other', offset, length })
      return
    }
    seen.add(kind)
    add({ marker, kind, offset, length, body: bodyBytes > 0 ? body.slice(0, bodyBytes) : undefined })
  }

  /** Takes in one segment. A scan header is returned, for its coded data follows. */
  function read(marker: number, body: Uint8Array, offset: number, length: number): JpegScan | undefined {
    if ((marker >= APP0 && marker <= 0xef) || marker === COM) {
      addApplication(marker, body, offset, length)
      return undefined
    }
    add({ marker, kind: 'picture', offset, length })
    if (isFrame(marker)) {
      if (frame) throw damaged('The JPEG file is inconsistent: it has two headers.')
      frame = readFrame(marker, body)
    } else if (marker === SOS) {
      if (!frame) throw damaged('The JPEG file is inconsistent: its picture starts before its header.')
      scans++
      return readScan(frame, body)
    } else if (marker === DQT) {
      for (const [index, table] of readQuantisation(body)) {
        // Later scans may bring tables of their own; clients ask how fine the first is.
        if (scans === 0 || !quantisation[index]) quantisation[index] = table
      }
    } else if (marker === DHT) {
      checkHuffman(body)
    } else if (marker === DRI) {
      if (body.length !== 2)
        throw damaged('The JPEG file is inconsistent: a table or header has a wrong length.')
      restartInterval = (body[0]! << 8) | body[1]!
    } else if (marker !== DAC && marker !== DNL) {
      throw damaged('The JPEG file is inconsistent: it has a segment of an unknown kind.')
    }
    return undefined
  }

  function checkScan(scan: JpegScan, codedBytes: number, restarts: number): void {
    const { units, blocks } = countBlocks(frame!, scan)
    const due = restartInterval > 0 ? Math.ceil(units / restartInterval) - 1 : 0
    const restartsMissing = frame!.coding !== 'lossless' && restarts < due
    if (restartsMissing || codedBytes < leastScanBytes(frame!, scan, blocks)) {
      throw damaged('The JPEG file is inconsistent: a part of the picture is missing.')
    }
    for (const component of scan.components) {
      if (frame!.coding !== 'lossless' && !quantisation[component.quantisation]) {
        throw damaged('The JPEG file is inconsistent: a quantisation table is missing.')
      }
      if (drawsComponents(frame!, scan)) drawn.add(component.id)
    }
  }

  function finish(end: number): Jpeg {
    if (!frame || frame.components.some(({ id }) => !drawn.has(id))) {
      throw damaged('The JPEG file is inconsistent: a part of the picture is missing.')
    }
    const body = (wanted: JpegKind) => segments.find(({ kind }) => kind === wanted)?.body ?? NOTHING
    const xmp = latin1(body('xmp').subarray(nameOfKind('xmp').length))
    return { segments, end, frame, quantisation, exif: readExif(body('exif')), xmp }
  }

  return {
    segments,
    get restartInterval() {
      return restartInterval
    },
    add,
    read,
    checkScan,
    finish,
  }
}

/** True if the scan brings the rough picture that later scans may refine. */
function drawsComponents({ coding }: JpegFrame, { spectralStart, approximationHigh }: JpegScan): boolean {
  return coding === 'lossless' || (spectralStart === 0 && approximationHigh === 0)
}
