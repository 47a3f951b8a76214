/** Private metadata as written by cameras and editors. */
import { cameraExif } from '../private-metadata.ts'
import { box, bytes, u32 } from './boxes.ts'

export const SECRET = 'SECRET: the house with the red door'
export const XMP_TYPE = 'application/rdf+xml'

/** The data of an Exif item. */
export function exif(location: boolean): Uint8Array {
  return bytes(u32(6), 'Exif\0\0', cameraExif({ location }))
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
