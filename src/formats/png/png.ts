/** PNG and APNG, inspected as a whole file. */

import type { Inspector } from '../image.ts'
import { turnsSideways } from '../metadata/exif.ts'
import { walkPng } from './walk.ts'

export const inspectPng: Inspector = async (source) => {
  const png = await walkPng(source)
  const sideways = turnsSideways(png.exif.orientation)
  return {
    type: 'image/png',
    width: sideways ? png.height : png.width,
    height: sideways ? png.width : png.height,
    animated: png.frames > 1,
    hasLocation: png.hasLocation,
    segments: png.segments,
  }
}
