/** How this engine's own JPEGs are known: by the steps of brightness that it alone writes. */
import { COARSEST_QUALITY, FINEST_QUALITY } from './jpeg-quality.ts'

/** mozjpeg's table 2 at quality 50, in the order of the file (zigzag). */
// biome-ignore format: as a table
const BASE = [
  12, 17, 18, 19, 20, 20, 21, 20, 20, 26, 31, 26, 21, 26, 30, 34, 28, 26, 26, 33, 40, 46, 35, 36, 30, 33, 51, 56, 63, 61, 58, 46,
  40, 46, 66, 68, 90, 76, 62, 46, 87, 69, 55, 55, 86, 96, 81, 86, 90, 96, 102, 100, 100, 66, 73, 111, 121, 113, 102, 120, 91, 101,
  105, 103,
]

/** `table`: 64 steps of brightness, in the order of the file. */
export function isOwnTable(table: ArrayLike<number>): boolean {
  for (let quality = COARSEST_QUALITY; quality <= FINEST_QUALITY; quality++) {
    // As jpeg_set_quality scales a table (jcparam.c).
    const scale = 200 - 2 * quality
    if (BASE.every((step, i) => table[i] === Math.max(1, Math.floor((step * scale + 50) / 100)))) return true
  }
  return false
}
