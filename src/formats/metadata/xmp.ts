/** XMP packets (ISO 16684-1): reads properties, detects a location, and writes packets. */

/** Location properties of Exif and IPTC Extension, under any prefix, and of Photoshop and IPTC Core. */
const LOCATION =
  /[:<\s"'](GPS(Dest)?(Latitude|Longitude|Position|Coordinates|AreaInformation)|LocationCreated|LocationShown|photoshop:City|photoshop:State|photoshop:Country|Iptc4xmpCore:Location)\b/

/** Read limit for an Exif or XMP block; also the most that JPEG can hold. Unit: bytes. */
export const MAX_METADATA_BYTES = 64 * 1024

export function xmpHasLocation(packet: string): boolean {
  return LOCATION.test(packet)
}

/**
 * The values of a property written as an attribute, an element, or an element with a list. `name`: with its prefix. Takes
 * linear time.
 */
export function propertyIn(packet: string, name: string): string[] | undefined {
  const attribute = new RegExp(`\\s${name}\\s*=\\s*["']([^"'<>]{0,64})["']`).exec(packet)
  if (attribute) return [(attribute[1] ?? '').trim()]
  const open = packet.indexOf(`<${name}>`)
  const close = packet.indexOf(`</${name}>`, open)
  if (open < 0 || close < 0) return undefined
  const inside = packet.slice(open + name.length + '<>'.length, close)
  if (!inside.includes('<')) return [inside.trim()]
  const items = inside.split('<rdf:li>').slice(1, 5)
  return items.map((item) => item.slice(0, Math.max(0, item.indexOf('</rdf:li>'))).trim())
}

/** `description`: a complete `rdf:Description` element. */
export function packetOf(description: string): Uint8Array {
  return new TextEncoder().encode(
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">' +
      `${description}</rdf:RDF></x:xmpmeta>`,
  )
}
