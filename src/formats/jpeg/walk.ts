/** Walks a JPEG from SOI to EOI (ITU-T T.81, annex B) and validates it as far as possible without decoding. */
import { cursorOver } from '../bytes/cursor.ts'
import { latin1 } from '../bytes/text.ts'
import { cutOff, damaged } from '../damaged.ts'
import type { ByteSource } from '../image.ts'
import { type ExifFacts, readExif } from '../metadata/exif.ts'
import {
  checkScanCount,
  countBlocks,
  isFrame,
  type JpegComponent,
  type JpegFrame,
  type JpegScan,
  minScanBytes,
  readFrame,
  readScan,
  segmentLengthError,
} from './header.ts'
import { isStandalone, nextMarker, skipScan } from './markers.ts'
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
  identifierOf,
  type JpegKind,
  type JpegSegment,
  SOI,
  SOS,
} from './segments.ts'
import {
  codingSlots,
  type JpegTable,
  quantisationSlot,
  RESTART_SLOT,
  readConditioning,
  readHuffman,
  readQuantisation,
} from './tables.ts'

export interface Jpeg {
  /** From SOI to EOI. */
  segments: JpegSegment[]
  /** Just after EOI. Unit: bytes. */
  end: number
  frame: JpegFrame
  /** The quantisation table of each component, except in lossless coding: 64 values, in zigzag order. */
  quantisation: Map<JpegComponent, Uint16Array>
  exif: ExifFacts
  /** The main XMP packet; empty when there is none. */
  xmp: string
}

/** Photos have a few dozen; large depth maps and manifests take many segments of 64 KiB. */
const MAX_JPEG_SEGMENTS = 4096

/** Files with new tables for every scan have a few dozen. */
const MAX_TABLES = 4096

const EMPTY = new Uint8Array(0)

/** Kinds of which only the first segment counts; a scrubbed file has at most one of each. */
const FIRST_COUNTS: ReadonlySet<JpegKind> = new Set(['exif', 'xmp', 'mpf', 'gain-map'])

/** Kinds of which decoders use the last segment before the first scan. */
const LAST_COUNTS: ReadonlySet<JpegKind> = new Set(['jfif', 'adobe'])

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
        const coded = await skipScan(cursor, after, walk.expectedRestarts(scan))
        walk.checkScan(scan, coded.decodedEnd - after, coded.restarts)
        segment.length = coded.decodedEnd - markerAt
        after = coded.end
      }
    }
    at = after
    if (marker === EOI) return walk.finish(at)
  }
}

/** The state of a walk. */
function newWalk() {
  const segments: JpegSegment[] = []
  const quantisation: Jpeg['quantisation'] = new Map()
  /** The last segment of each kind. */
  const seen = new Map<JpegKind, JpegSegment>()
  const startedComponents = new Set<JpegComponent>()
  /** The current tables, by slot. */
  const tables = new Map<string, JpegTable>()
  let tableCount = 0
  let frame: JpegFrame | undefined
  let restartInterval = 0
  let scans = 0
  let scannedBlocks = 0

  function add(segment: JpegSegment): void {
    if (segments.length >= MAX_JPEG_SEGMENTS) {
      throw damaged(`The JPEG file has more than ${MAX_JPEG_SEGMENTS} segments.`)
    }
    segments.push(segment)
  }

  function addApplication(segment: JpegSegment, body: Uint8Array): void {
    const { kind, bodyBytes } = classify(segment.marker, body)
    // Decoders ignore metadata after the first scan header.
    if (scans > 0 || (FIRST_COUNTS.has(kind) && seen.has(kind))) {
      add({ ...segment, kind: 'other' })
      return
    }
    const previous = seen.get(kind)
    if (previous && LAST_COUNTS.has(kind)) previous.kind = 'other'
    const counted = { ...segment, kind, body: bodyBytes > 0 ? body.slice(0, bodyBytes) : undefined }
    seen.set(kind, counted)
    add(counted)
  }

  function addTables(segment: JpegSegment, definitions: JpegTable[]): void {
    tableCount += definitions.length
    if (tableCount > MAX_TABLES) throw damaged(`The JPEG file has more than ${MAX_TABLES} tables.`)
    for (const table of definitions) tables.set(table.slot, table)
    add({ ...segment, tables: definitions })
  }

  /** Processes one segment. Returns the scan for a scan header: its entropy-coded data follows. */
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
      addTables(segment, readQuantisation(body))
    } else if (marker === DHT) {
      addTables(segment, readHuffman(body))
    } else if (marker === DRI) {
      if (body.length !== 2) throw segmentLengthError('DRI')
      restartInterval = ((body[0] ?? 0) << 8) | (body[1] ?? 0)
      addTables(segment, [{ at: 0, length: 2, slot: RESTART_SLOT, used: false, isValid: true }])
    } else if (marker === DAC) {
      addTables(segment, readConditioning(body))
    } else if (marker === DNL) {
      // Decoders read the number of lines from the frame header instead.
      add({ ...segment, kind: 'other' })
    } else {
      throw damaged(`The JPEG file is damaged: it has an unexpected marker, FF ${marker.toString(16)}.`)
    }
    return undefined
  }

  function expectedRestarts(scan: JpegScan): number {
    if (!frame || restartInterval === 0) return 0
    const { units } = countBlocks(frame, scan)
    // Lossless scans have MCUs of samples, not blocks, so the expected number of restarts is unknown.
    if (frame.coding === 'lossless') return Number.POSITIVE_INFINITY
    return Math.ceil(units / restartInterval) - 1
  }

  function checkScan(scan: JpegScan, codedBytes: number, restarts: number): void {
    if (!frame) return
    const { coding } = frame
    const { blocks } = countBlocks(frame, scan)
    scannedBlocks += blocks
    checkScanCount(frame, scans, scannedBlocks)
    const restartsMissing = coding !== 'lossless' && restarts < expectedRestarts(scan)
    if (restartsMissing || codedBytes < minScanBytes(frame, scan, blocks)) throw incompletePicture()
    for (const component of scan.components) {
      const table = tables.get(quantisationSlot(component.quantisation))
      if (coding !== 'lossless' && !table) {
        throw damaged(
          'The JPEG file is damaged: a component refers to a quantisation table that is not defined.',
        )
      }
      // A component keeps the quantisation table that was current at its first scan.
      if (table?.values && !quantisation.has(component)) {
        table.used = true
        quantisation.set(component, table.values)
      }
      if (startsComponents(frame, scan)) startedComponents.add(component)
    }
    for (const slot of [RESTART_SLOT, ...codingSlots(frame, scan)]) {
      const table = tables.get(slot)
      if (!table) continue
      if (!table.isValid) throw segmentLengthError('DHT')
      table.used = true
    }
  }

  function finish(end: number): Jpeg {
    if (!frame || frame.components.some((one) => !startedComponents.has(one))) throw incompletePicture()
    const body = (wanted: JpegKind) => segments.find(({ kind }) => kind === wanted)?.body ?? EMPTY
    const xmp = latin1(body('xmp').subarray(identifierOf('xmp').length))
    return { segments, end, frame, quantisation, exif: readExif(body('exif')), xmp }
  }

  return { add, read, expectedRestarts, checkScan, finish }
}

function incompletePicture(): Error {
  return damaged('The JPEG file is damaged: a part of the picture is missing.')
}

/** True if the scan is the first pass over the DC coefficients of its components. */
function startsComponents({ coding }: JpegFrame, { spectralStart, approximationHigh }: JpegScan): boolean {
  return coding === 'lossless' || (spectralStart === 0 && approximationHigh === 0)
}
