/** What people do not want to share, as cameras and editors write it. */
import { box, bytes, u16, u32 } from './boxes.ts'

export const SECRET = 'SECRET: the house with the red door'
export const XMP_TYPE = 'application/rdf+xml'

/** Exif with a maker, and a position if asked for. */
export function exif(place: boolean): Uint8Array {
  const text = bytes(SECRET, [0])
  const gps = bytes(u16(1), u16(2, 5), u32(3, 64), u32(0))
  const maker = bytes(u16(0x010f, 2), u32(text.length, 100))
  const entries = place ? [maker, u16(0x8825, 4), u32(1, 46)] : [maker]
  const ifd = bytes(u16(place ? 2 : 1), ...entries, u32(0))
  const tiff = new Uint8Array(100 + text.length)
  tiff.set(bytes('MM', u16(42), u32(8), ifd))
  if (place) tiff.set(gps, 46)
  if (place) tiff.set(u32(51, 1, 30, 1, 0, 1), 64)
  tiff.set(text, 100)
  return bytes(u32(6), 'Exif\0\0', tiff)
}

export function xmp(property: string): Uint8Array {
  const about = `<rdf:Description xmlns:exif="http://ns.adobe.com/exif/1.0/" ${property}="${SECRET}"/>`
  const rdf = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'
  return bytes(
    `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="${rdf}">${about}</rdf:RDF></x:xmpmeta>`,
  )
}

export const XMP_UUID = 'be7acfcb97a942e89c71999491e3afac'
export const C2PA_UUID = 'd8fec3d61b0e483c92975828877ec481'

export function uuid(id: string, ...parts: (Uint8Array | string)[]): Uint8Array {
  return box('uuid', Buffer.from(id, 'hex'), ...parts)
}
