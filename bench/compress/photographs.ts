/** Photographs as a camera would hand them over. */
import { createHash } from 'node:crypto'
import { access } from 'node:fs/promises'
import { basename } from 'node:path'
import sharp from 'sharp'

/** From Debian's mate-backgrounds and plasma-workspace-wallpapers: those that a camera took, none that were drawn. */
const MATE = '/usr/share/backgrounds/mate/nature'
const PLASMA = '/usr/share/wallpapers'
const FILES = [
  ...'Aqua Blinds Dune FreshFlower Garden GreenMeadow LadyBird RainDrops Storm TwoWings Wood YellowFlower'
    .split(' ')
    .map((name) => `${MATE}/${name}.jpg`),
  ...'BytheWater ColdRipple ColorfulCups DarkestHour EveningGlow FallenLeaf Grey Kite OneStandsOut Path summer_1am'
    .split(' ')
    .map((name) => `${PLASMA}/${name}/contents/images/2560x1600.jpg`),
]

export interface Input {
  name: string
  bytes: Buffer
  width: number
  height: number
  /** The first digits: two runs with the same ones had the same input. */
  sha256: string
}

/** Throws if the packages are not installed. */
export async function photographs(): Promise<Input[]> {
  const inputs: Input[] = []
  for (const file of FILES) {
    await access(file).catch((cause) => {
      throw new Error(`${file} is missing: apt-get install mate-backgrounds plasma-workspace-wallpapers`, {
        cause,
      })
    })
    const { width = 0 } = await sharp(file).metadata()
    // Half the size: artefacts of the JPEG that it was are gone.
    const bytes = await sharp(file)
      .resize(Math.round(width / 2))
      .jpeg({ quality: 96, chromaSubsampling: '4:2:0' })
      .toBuffer()
    inputs.push(await inputOf(nameOf(file), bytes))
  }
  return inputs
}

export async function inputOf(name: string, bytes: Buffer): Promise<Input> {
  const { width = 0, height = 0 } = await sharp(bytes).metadata()
  return { name, bytes, width, height, sha256: createHash('sha256').update(bytes).digest('hex').slice(0, 8) }
}

function nameOf(file: string): string {
  return file.startsWith(PLASMA) ? file.slice(PLASMA.length + 1).split('/')[0]! : basename(file, '.jpg')
}
