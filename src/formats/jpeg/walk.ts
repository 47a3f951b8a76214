/** Walks a JPEG from SOI to EOI (ITU-T T.81, annex B) and checks what can be checked without decoding. */
import { cursorOver } from '../bytes/cursor.ts'
import { latin1 } from '../bytes/text.ts'
import { cutOff, damaged } from '../damaged.ts'
import type { ByteSource } from '../image.ts'
import { type ExifFacts, readExif } from '../metadata/exif.ts'
import {
  countBlocks,
  isFrame,
  type JpegFrame,
  type JpegScan,
  minScanBytes,
  readFrame,
  readScan,
  scanCounter,
  wrongLength,
} from './header.ts'
import { isStandalone, nextMarker, passScan } from './markers.ts'
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
import {
  huffmanSlots,
  type JpegTable,
  quantisationSlot,
  RESTART_SLOT,
  readHuffman,
  readQuantisation,
} from './tables.ts'

export interface Jpeg {
  /** From SOI to EOI. */
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

/** A photo has some dozens; large depth maps and manifests come in segments of 64 KiB. */
const MAX_JPEG_SEGMENTS = 4096

/** Files with a table for every scan have some dozens. */
const MAX_TABLES = 4096

const NOTHING = new Uint8Array(0)

/** Kinds whose first segment counts; a scrubbed file has one at most. */
const SINGLE: ReadonlySet<JpegKind> = new Set(['exif', 'xmp', 'mpf', 'gain-map'])

/** Reads the JPEG that starts at `start`. Throws `Refusal('damaged-image')`. */
export async function walkJpeg(source: ByteSource, start = 0, end = source.size): Promise<Jpeg> {
  const cursor = cursorOver(source, { end })
  const walk = newWalk()
  for (let at = start; ; ) {
    const { marker, markerAt, bodyAt } = await nextMarker(cursor, at, at !== start)
    if ((marker === SOI) !== (at === start)) {
      throw damaged('The JPEG file is damaged: it does not start with its only start of image (SOI).')
    }
    let after = bodyAt
    if (isStandalone(marker)) {
      const kind = marker === SOI || marker === EOI ? 'picture' : 'other'
      walk.add({ marker, kind, offset: markerAt, length: after - markerAt, bodyAt })
    } else {
      const bytes = cursor.peek(bodyAt, 2) ?? (await cursor.load(bodyAt, 2))
      const [high, low] = bytes
      if (high === undefined || low === undefined) throw cutOff('JPEG')
      const length = (high << 8) | low
      if (length < 2) throw damaged('The JPEG file is damaged: a segment is shorter than its length field.')
      const bytesOfSegment = cursor.peek(bodyAt, length) ?? (await cursor.load(bodyAt, length))
      if (bytesOfSegment.length < length) throw cutOff('JPEG')
      after = bodyAt + length
      const segment = {
        marker,
        kind: 'picture' as const,
        offset: markerAt,
        length: after - markerAt,
        bodyAt: bodyAt + 2,
      }
      const scan = walk.read(segment, bytesOfSegment.subarray(2, length))
      if (scan) {
        const coded = await passScan(cursor, after, walk.restartsDue(scan))
        walk.checkScan(scan, coded.decodedEnd - after, coded.restarts)
        segment.length = coded.decodedEnd - markerAt
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
  /** The tables in force, by slot. */
  const tables = new Map<string, JpegTable>()
  let tableCount = 0
  let frame: JpegFrame | undefined
  let restartInterval = 0
  let scans = 0
  const countScan = scanCounter()

  function add(segment: JpegSegment): void {
    if (segments.length >= MAX_JPEG_SEGMENTS) {
      throw damaged(`The JPEG file has more than ${MAX_JPEG_SEGMENTS} segments.`)
    }
    segments.push(segment)
  }

  function addApplication(segment: JpegSegment, body: Uint8Array): void {
    const { kind, bodyBytes } = classify(segment.marker, body)
    // Decoders ask no more once the picture has begun.
    if (scans > 0 || (SINGLE.has(kind) && seen.has(kind))) {
      add({ ...segment, kind: 'other' })
      return
    }
    seen.add(kind)
    add({ ...segment, kind, body: bodyBytes > 0 ? body.slice(0, bodyBytes) : undefined })
  }

  function addTables(segment: JpegSegment, defined: JpegTable[]): void {
    tableCount += defined.length
    if (tableCount > MAX_TABLES) throw damaged(`The JPEG file has more than ${MAX_TABLES} tables.`)
    for (const table of defined) tables.set(table.slot, table)
    add({ ...segment, tables: defined })
  }

  /** Takes in one segment. A scan header is returned, for its coded data follows. */
  function read(segment: JpegSegment, body: Uint8Array): JpegScan | undefined {
    const { marker } = segment
    if ((marker >= APP0 && marker <= 0xef) || marker === COM) {
      addApplication(segment, body)
    } else if (isFrame(marker)) {
      if (frame) throw damaged('The JPEG file is damaged: it has two frame headers (SOF).')
      frame = readFrame(marker, body)
      add(segment)
    } else if (marker === SOS) {
      if (!frame) throw damaged('The JPEG file is damaged: a scan comes before the frame header (SOF).')
      scans++
      add(segment)
      return readScan(frame, body)
    } else if (marker === DQT) {
      const defined = readQuantisation(body)
      for (const { index, values } of defined) {
        // Later scans may bring tables of their own; clients ask how fine the first is.
        if (scans === 0 || !quantisation[index]) quantisation[index] = values
      }
      addTables(segment, defined)
    } else if (marker === DHT) {
      addTables(segment, readHuffman(body))
    } else if (marker === DRI) {
      if (body.length !== 2) throw wrongLength('DRI')
      restartInterval = ((body[0] ?? 0) << 8) | (body[1] ?? 0)
      addTables(segment, [{ at: 0, length: 2, slot: RESTART_SLOT, used: false, isSound: true }])
    } else if (marker === DAC) {
      if (!isConditioning(body)) throw wrongLength('DAC')
      add(segment)
    } else if (marker === DNL) {
      // Decoders take the number of lines from the frame header.
      add({ ...segment, kind: 'other' })
    } else {
      throw damaged(
        `The JPEG file is damaged: it has a marker that does not belong there, FF ${marker.toString(16)}.`,
      )
    }
    return undefined
  }

  function restartsDue(scan: JpegScan): number {
    if (!frame || restartInterval === 0) return 0
    const { units } = countBlocks(frame, scan)
    // A lossless scan counts in samples, so that its restarts can only be counted.
    if (frame.coding === 'lossless') return Number.POSITIVE_INFINITY
    return Math.ceil(units / restartInterval) - 1
  }

  function checkScan(scan: JpegScan, codedBytes: number, restarts: number): void {
    if (!frame) return
    const { coding } = frame
    const { blocks } = countBlocks(frame, scan)
    countScan(frame, blocks)
    const restartsMissing = coding !== 'lossless' && restarts < restartsDue(scan)
    if (restartsMissing || codedBytes < minScanBytes(frame, scan, blocks)) throw pictureMissing()
    for (const component of scan.components) {
      const table = tables.get(quantisationSlot(component.quantisation))
      if (coding !== 'lossless' && !table) {
        throw damaged(
          'The JPEG file is damaged: a component refers to a quantisation table that is not defined.',
        )
      }
      // A component keeps the table that its first scan found.
      if (table && !drawn.has(component.id)) table.used = true
      if (drawsComponents(frame, scan)) drawn.add(component.id)
    }
    for (const slot of [RESTART_SLOT, ...huffmanSlots(frame, scan)]) {
      const table = tables.get(slot)
      if (!table) continue
      if (!table.isSound) throw wrongLength('DHT')
      table.used = true
    }
  }

  function finish(end: number): Jpeg {
    if (!frame || frame.components.some(({ id }) => !drawn.has(id))) throw pictureMissing()
    const body = (wanted: JpegKind) => segments.find(({ kind }) => kind === wanted)?.body ?? NOTHING
    const xmp = latin1(body('xmp').subarray(nameOfKind('xmp').length))
    return { segments, end, frame, quantisation, exif: readExif(body('exif')), xmp }
  }

  return { add, read, restartsDue, checkScan, finish }
}

function pictureMissing(): Error {
  return damaged('The JPEG file is damaged: a part of the picture is missing.')
}

/** Pairs of a table and its value, each table once (B.2.4.3). */
function isConditioning(body: Uint8Array): boolean {
  const destinations = body.filter((_, index) => index % 2 === 0)
  return body.length % 2 === 0 && new Set(destinations).size === destinations.length
}

/** True if the scan brings the rough picture that later scans may refine. */
function drawsComponents({ coding }: JpegFrame, { spectralStart, approximationHigh }: JpegScan): boolean {
  return coding === 'lossless' || (spectralStart === 0 && approximationHigh === 0)
}
