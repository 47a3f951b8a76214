/** The scans of a JPEG with all that they depend on (ITU-T T.81, B.2.3 and B.2.4). */
import { type JpegScan, readScan } from '../../../formats/jpeg/header.ts'
import { DHT, DRI, SOS } from '../../../formats/jpeg/segments.ts'
import type { Jpeg } from '../../../formats/jpeg/walk.ts'
import { AC_CLASS, addTables, type HuffmanTable, type Intervals, withoutStuffing } from './huffman.ts'

export interface Scan {
  header: JpegScan
  /** By component of the scan. Some scans do without. */
  dc: (HuffmanTable | undefined)[]
  ac: (HuffmanTable | undefined)[]
  intervals: Intervals
  /** Unit: MCUs. 0: there are none. */
  restartInterval: number
}

/** In order. `jpeg`: must be valid. */
export function* scansOf(jpeg: Uint8Array, { frame, segments }: Jpeg): Generator<Scan> {
  const tables = new Map<number, HuffmanTable>()
  let restartInterval = 0
  for (const segment of segments) {
    const { marker, bodyAt, offset, length } = segment
    if (marker === DHT) addTables(tables, jpeg, segment)
    else if (marker === DRI) restartInterval = jpeg[bodyAt]! * 256 + jpeg[bodyAt + 1]!
    else if (marker === SOS) {
      const start = bodyAt + 4 + 2 * jpeg[bodyAt]!
      const header = readScan(frame, jpeg.subarray(bodyAt, start))
      yield {
        header,
        dc: header.tables.map(({ dc }) => tables.get(dc)),
        ac: header.tables.map(({ ac }) => tables.get(AC_CLASS | ac)),
        intervals: withoutStuffing(jpeg.subarray(start, offset + length)),
        restartInterval,
      }
    }
  }
}
