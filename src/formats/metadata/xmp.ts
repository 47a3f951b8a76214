/** XMP packets: does one name a place? */

/**
 * Exif's GPS properties, and the places of Photoshop, IPTC Core and IPTC Extension, whatever prefix a writer chose.
 */
const PLACE =
  /[:<\s"'](GPS(Dest)?(Latitude|Longitude|Position|Coordinates|AreaInformation)|LocationCreated|LocationShown|photoshop:City|photoshop:State|photoshop:Country|Iptc4xmpCore:Location)\b/

/** Most of an Exif or XMP block that is looked at; JPEG can hold no more of either. Unit: bytes. */
export const MOST_METADATA_BYTES = 64 * 1024

export function namesPlaceInXmp(packet: string): boolean {
  return PLACE.test(packet)
}
