/** Sound images of every kind that is accepted, made here. AVIF has a place of its own. */
import { gifs, webps } from './animated.ts'
import { jpegs } from './jpeg.ts'
import type { MadeImage } from './pictures.ts'
import { pngs } from './png.ts'

export async function madeImages(): Promise<MadeImage[]> {
  return (await Promise.all([jpegs(), pngs(), gifs(), webps()])).flat()
}
