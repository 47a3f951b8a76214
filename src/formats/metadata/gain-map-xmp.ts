/** The gain map XMP of an Ultra HDR image (Adobe "Gain map" 1.0, Android "Ultra HDR image format" 1.1); nothing else. */
import { type AppleGainMap, appleAttributes } from './apple-gain-map.ts'
import { packetOf, propertyIn } from './xmp.ts'

const NUMBER = /^[+-]?\d{1,12}(\.\d{1,24})?([eE][+-]?\d{1,3})?$/

/** Each holds one number, or three: one per channel. */
const FIELDS = [
  'GainMapMin',
  'GainMapMax',
  'Gamma',
  'OffsetSDR',
  'OffsetHDR',
  'HDRCapacityMin',
  'HDRCapacityMax',
] as const

/** Property values by name, verbatim. */
export type GainMapFields = Map<string, string[]>

/** True if the packet declares a gain map. */
export function announcesGainMap(packet: string): boolean {
  return propertyIn(packet, 'hdrgm:Version')?.[0] === '1.0'
}

/** The properties of a gain map. `null` when one of them is invalid, or `GainMapMax` is missing. */
export function readGainMapFields(packet: string): GainMapFields | null {
  if (!announcesGainMap(packet)) return null
  const fields: GainMapFields = new Map()
  for (const name of FIELDS) {
    const values = propertyIn(packet, `hdrgm:${name}`)
    if (values === undefined) continue
    if (!values.every((value) => NUMBER.test(value))) return null
    fields.set(name, values)
  }
  const base = propertyIn(packet, 'hdrgm:BaseRenditionIsHDR')?.[0]
  if (base !== undefined && base !== 'True' && base !== 'False') return null
  if (base !== undefined) fields.set('BaseRenditionIsHDR', [base])
  return fields.has('GainMapMax') ? fields : null
}

/** The length of the gain map as declared in the primary image's packet. Unit: bytes. */
export function declaredGainMapLength(packet: string): number | undefined {
  const at = packet.search(/Item:Semantic\s*=\s*["']GainMap["']/)
  if (at < 0) return undefined
  const item = packet.slice(Math.max(0, packet.lastIndexOf('<', at)), packet.indexOf('>', at))
  const length = /Item:Length\s*=\s*["'](\d{1,10})["']/.exec(item)
  return length ? Number(length[1]) : undefined
}

const NAMESPACE = 'xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0"'

/** XMP for the gain map's own JPEG. `apple`: its Apple properties, if it has them too. */
export function writeGainMapFields(fields: GainMapFields, apple?: AppleGainMap): Uint8Array {
  let attributes = apple ? ` ${appleAttributes(apple)}` : ''
  let elements = ''
  for (const [name, values] of fields) {
    if (values.length === 1) {
      attributes += ` hdrgm:${name}="${values[0]}"`
    } else {
      const items = values.map((value) => `<rdf:li>${value}</rdf:li>`).join('')
      elements += `<hdrgm:${name}><rdf:Seq>${items}</rdf:Seq></hdrgm:${name}>`
    }
  }
  return packetOf(`<rdf:Description ${NAMESPACE}${attributes}>${elements}</rdf:Description>`)
}

/** XMP for the primary image. `gainMapLength`: length of the gain map's JPEG. Unit: bytes. */
export function writeAnnouncement(gainMapLength: number): Uint8Array {
  const item = (attributes: string) =>
    `<rdf:li rdf:parseType="Resource"><Container:Item ${attributes}/></rdf:li>`
  return packetOf(
    '<rdf:Description xmlns:Container="http://ns.google.com/photos/1.0/container/"' +
      ` xmlns:Item="http://ns.google.com/photos/1.0/container/item/" ${NAMESPACE}><Container:Directory><rdf:Seq>` +
      item('Item:Semantic="Primary" Item:Mime="image/jpeg"') +
      item(`Item:Semantic="GainMap" Item:Mime="image/jpeg" Item:Length="${gainMapLength}"`) +
      '</rdf:Seq></Container:Directory></rdf:Description>',
  )
}
