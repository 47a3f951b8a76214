/** ICC profiles that contain the marker. */
import { inflateSync } from 'node:zlib'
import { pngChunks } from '../chunks.ts'
import { picture } from './pictures.ts'
import { MARKER } from './planting.ts'

const tiny = { width: 16, height: 16 }

/** sharp's P3 profile with the marker as its description, as its copyright, in a private tag, or as a display's serial number. */
export async function profiles(): Promise<Record<'description' | 'copyright' | 'tag' | 'display', Buffer>> {
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
  const display = grown(profile, 'mmod')
  // The date, in the header.
  MARKER.copy(display, 24)
  return {
    description: overwritten('desc'),
    copyright: overwritten('cprt'),
    tag: grown(profile, 'PRVT'),
    display,
  }
}

/** Adds a tag. */
function grown(profile: Buffer, name: string): Buffer {
  const tags = profile.readUInt32BE(128)
  const tableEnd = 132 + 12 * tags
  const table = Buffer.from(profile.subarray(0, tableEnd))
  for (let tag = 0; tag < tags; tag++)
    table.writeUInt32BE(table.readUInt32BE(136 + 12 * tag) + 12, 136 + 12 * tag)
  const entry = Buffer.alloc(12, name)
  const data = Buffer.concat([Buffer.from('text\0\0\0\0'), MARKER])
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
