/** Sound images of every kind that is accepted, made here. AVIF has a place of its own. */
import type { ImageType } from '../../../src/protocol.ts'
import { gifs, webps } from './animated.ts'
import { jpegs } from './jpeg.ts'
import { pngs } from './png.ts'

export interface MadeImage {
  /** Unique. */
  name: string
  type: ImageType
  bytes: Uint8Array
  /** Nothing in it is private: it is stored as it is. What is private in the others says SECRET. */
  clean: boolean
  animated?: boolean
  /** It names a place. */
  located?: boolean
}

export async function madeImages(): Promise<MadeImage[]> {
  return (await Promise.all([jpegs(), pngs(), gifs(), webps()])).flat()
}
