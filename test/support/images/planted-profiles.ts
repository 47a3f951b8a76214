/** ICC profiles that contain the marker. */
import { randomBytes } from 'node:crypto'
import { inflateSync } from 'node:zlib'
import { pngChunks } from '../chunks.ts'
import { picture } from './pictures.ts'
import { MARKER } from './planting.ts'

const tiny = { width: 16, height: 16 }

/**
 * sharp's P3 profile with the marker as its description, as its copyright, in a private tag, or as a display's serial number.
 * `calibrated`: with the tables that a calibration adds, which precede the serial number.
 */
export async function profiles(): Promise<
  Record<'description' | 'copyright' | 'tag' | 'display' | 'calibrated', Buffer>
> {
  const profile = await cleanProfile()
  const tagAt = (name: string) => {
    const entry = profile.indexOf(name, 132, 'latin1')
    return { at: profile.readUInt32BE(entry + 4), length: profile.readUInt32BE(entry + 8) }
  }
  const overwritten = (name: string) => {
    const copy = Buffer.from(profile)
    const { at, length } = tagAt(name)
    MARKER.copy(copy, at + length - MARKER.length)
    return copy
  }
  const display = withDisplay(profile)
  return {
    description: overwritten('desc'),
    copyright: overwritten('cprt'),
    tag: grown(profile, 'PRVT'),
    display,
    calibrated: calibrated(profile, 300_000),
  }
}

/** Adds a display's serial number and date. */
function withDisplay(profile: Buffer): Buffer {
  const display = grown(grown(profile, 'mmod'), 'meta')
  // In the header.
  MARKER.copy(display, 24)
  return display
}

/** The profile of a display with tables of so many bytes. */
export function calibrated(profile: Buffer, bytes: number): Buffer {
  return withDisplay(grown(profile, 'PRVT', randomBytes(bytes)))
}

/** Adds a tag. */
function grown(profile: Buffer, name: string, content = MARKER): Buffer {
  const tags = profile.readUInt32BE(128)
  const tableEnd = 132 + 12 * tags
  const table = Buffer.from(profile.subarray(0, tableEnd))
  for (let tag = 0; tag < tags; tag++)
    table.writeUInt32BE(table.readUInt32BE(136 + 12 * tag) + 12, 136 + 12 * tag)
  const entry = Buffer.alloc(12, name)
  const data = Buffer.concat([Buffer.from('text\0\0\0\0'), content])
  entry.writeUInt32BE(profile.length + 12, 4)
  entry.writeUInt32BE(data.length, 8)
  table.writeUInt32BE(tags + 1, 128)
  const all = Buffer.concat([table, entry, profile.subarray(tableEnd), data])
  all.writeUInt32BE(all.length)
  return all
}

export async function cleanProfile(): Promise<Buffer> {
  const file = await picture(tiny).withIccProfile('p3').png().toBuffer()
  const { body } = pngChunks(file).find(({ type }) => type === 'iCCP')!
  return inflateSync(body.subarray(body.indexOf(0) + 2))
}
