import type { ImageType } from '../../../src/protocol.ts'
import type { MadeImage } from './images.ts'

type Facts = Pick<MadeImage, 'clean' | 'located' | 'animated'>

/** `files` of one type, by what is in them. `kind` begins their names. */
export const naming =
  (kind: string, type: ImageType) =>
  (files: Record<string, Buffer>, facts: Facts): MadeImage[] =>
    Object.entries(files).map(([name, bytes]) => ({ name: `${kind}, ${name}`, type, bytes, ...facts }))
