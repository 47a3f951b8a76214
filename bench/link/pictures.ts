/** The test pictures: photographs of the judging half, encoded like by a camera; a screenshot of a phone; a drawing. */
import { access, mkdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { drawings } from '../compress/drawings.ts'
import { originals } from '../compress/photographs.ts'

export const PHOTOGRAPHS = ['photograph of 12 MP', 'photograph of 3 MP'] as const
export const SCREENSHOT = 'screenshot of a phone'
export const DRAWING = 'drawing of 9 MP'
export const TWENTY = '20 photographs of 12 MP'

export type Name = (typeof PHOTOGRAPHS)[number] | typeof SCREENSHOT | typeof DRAWING | typeof TWENTY

export interface Subject {
  paths: string[]
  /** Total size of the files. */
  bytes: number
}

/** True for a single photograph. */
export function isPhotograph(name: Name): boolean {
  return PHOTOGRAPHS.some((photograph) => photograph === name)
}

const COUNT = 20
/** The four photographs of more than 10 MP. */
const CAMERA_FILES = /(Bridge|Dragonfly|seeding|sunset)_by_/

/** Creates the pictures once, and caches them in `folder`. */
export async function subjects(folder: string): Promise<Record<Name, Subject>> {
  await mkdir(folder, { recursive: true })
  const large = await originals(CAMERA_FILES)
  const photographs = await Promise.all(
    Array.from({ length: COUNT }, (_, index) =>
      made(join(folder, `photograph-${index}.jpg`), async () => {
        // Reused photographs are mirrored, so that no codec benefits from the repetition.
        const picture = sharp(large[index % large.length])
          .toColourspace('srgb')
          .resize(4000, 3000)
        return (index < large.length ? picture : picture.flop()).jpeg({ quality: 95 }).toBuffer()
      }),
    ),
  )
  const small = await made(join(folder, 'small.jpg'), () =>
    sharp(photographs[1]).resize(2048, 1536).jpeg({ quality: 95 }).toBuffer(),
  )
  const screen = await made(join(folder, 'screenshot.png'), () => screenshot(photographs[1]!))
  const drawing = await made(join(folder, 'drawing.png'), () =>
    drawings()['smooth drawing']!.png().toBuffer(),
  )
  return {
    'photograph of 12 MP': await subjectOf([photographs[1]!]),
    'photograph of 3 MP': await subjectOf([small]),
    [SCREENSHOT]: await subjectOf([screen]),
    [DRAWING]: await subjectOf([drawing]),
    [TWENTY]: await subjectOf(photographs),
  }
}

async function subjectOf(paths: string[]): Promise<Subject> {
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size))
  return { paths, bytes: sizes.reduce((sum, size) => sum + size, 0) }
}

async function made(path: string, make: () => Promise<Buffer>): Promise<string> {
  const exists = await access(path).then(
    () => true,
    () => false,
  )
  if (!exists) await writeFile(path, await make())
  return path
}

/** A chat: lines of text in bubbles, and one photograph. 1170 by 2532, as on a phone with a pixel ratio of three. */
async function screenshot(photograph: string): Promise<Buffer> {
  const bubbles = Array.from({ length: 22 }, (_, row) => {
    const isMine = row % 3 === 0
    const x = isMine ? 370 : 40
    const words = `Line ${row * 37} of a talk about ${['lunch', 'trains', 'the sea', 'a film'][row % 4]}, and more`
    return `<rect x="${x}" y="${140 + row * 84}" width="760" height="70" rx="32" fill="${isMine ? '#0b84fe' : '#e9e9eb'}"/><text x="${x + 30}" y="${186 + row * 84}" font-size="34" font-family="sans-serif" fill="${isMine ? '#fff' : '#111'}">${words}</text>`
  })
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="1170" height="2532"><rect width="1170" height="2532" fill="#fff"/><rect width="1170" height="120" fill="#f7f7f7"/>${bubbles.join('')}</svg>`
  const photo = await sharp(photograph).resize(760, 420).png().toBuffer()
  return sharp(Buffer.from(svg))
    .composite([{ input: photo, left: 40, top: 2040 }])
    .removeAlpha()
    .png()
    .toBuffer()
}
