/** Generated well-formed images of all accepted types, except for AVIF: see `avif/`. */
import { gifs, webps } from './animated.ts'
import { jpegs } from './jpeg.ts'
import type { MadeImage } from './pictures.ts'
import { pngs } from './png.ts'

export async function madeImages(): Promise<MadeImage[]> {
  return (await Promise.all([jpegs(), pngs(), gifs(), webps()])).flat()
}
