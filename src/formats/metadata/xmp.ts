/** XMP packets (ISO 16684-1): properties of one, whether it names a place, and packets of our own. */

/**
 * Exif's GPS properties, and the places of Photoshop, IPTC Core and IPTC Extension, whatever prefix a writer chose.
 */
const PLACE =
  /[:<\s"'](GPS(Dest)?(Latitude|Longitude|Position|Coordinates|AreaInformation)|LocationCreated|LocationShown|photoshop:City|photoshop:State|photoshop:Country|Iptc4xmpCore:Location)\b/

/** Most of an Exif or XMP block that is read; JPEG can hold no more of either. Unit: bytes. */
export const MAX_METADATA_BYTES = 64 * 1024

export function namesPlaceInXmp(packet: string): boolean {
  return PLACE.test(packet)
}

/** `name`: with its prefix. A property written as attribute, as element, or as element with a list. Each look is one pass over the packet. */
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

/** `description`: an `rdf:Description`, whole. */
export function packetOf(description: string): Uint8Array {
  return new TextEncoder().encode(
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">' +
      `${description}</rdf:RDF></x:xmpmeta>`,
  )
}
