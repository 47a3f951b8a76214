/** XMP packets: does one name a place? */

/**
 * Exif's GPS properties, and the places of Photoshop, IPTC Core and IPTC Extension, whatever prefix a writer chose.
 */
const PLACE =
  /[:<\s"'](GPS(Dest)?(Latitude|Longitude|Position|Coordinates|AreaInformation)|LocationCreated|LocationShown|photoshop:City|photoshop:State|photoshop:Country|Iptc4xmpCore:Location)\b/

export function namesPlaceInXmp(packet: string): boolean {
  return PLACE.test(packet)
}

/** Bytes of a packet as text, one character a byte: names and numbers are ASCII in every packet that matters. */
export function latin1(bytes: Uint8Array): string {
  return LATIN1.decode(bytes)
}

const LATIN1 = new TextDecoder('latin1')
