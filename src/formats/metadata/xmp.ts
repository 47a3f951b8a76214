/** XMP packets: does one name a place? */

/**
 * Exif's GPS properties, and the places of Photoshop, IPTC Core and IPTC Extension, whatever prefix a writer chose.
 */
const PLACE =
  /[:<\s"'](GPS(Dest)?(Latitude|Longitude|Position|Coordinates|AreaInformation)|LocationCreated|LocationShown|photoshop:City|photoshop:State|photoshop:Country|Iptc4xmpCore:Location)\b/

export function namesPlaceInXmp(packet: string): boolean {
  return PLACE.test(packet)
}

/** A call takes only so many arguments. */
const CHARACTERS_AT_ONCE = 8192

/**
 * Bytes as text, one character a byte: names and numbers are ASCII in every packet that matters. A TextDecoder's
 * "latin1" is windows-1252, which moves the bytes from 0x80 to 0x9F.
 */
export function latin1(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += CHARACTERS_AT_ONCE) {
    text += String.fromCharCode(...bytes.subarray(at, at + CHARACTERS_AT_ONCE))
  }
  return text
}
