/**
 * Handcrafted HEIC files of 64 by 64 pixel tiles, encoded with x265 because no npm package encodes HEVC. Only the upper half
 * of a tile is visible; the lower half repeats the last visible row.
 */
import { assemble, clap, ispe, type Part, type Plan, type Property } from './avif/assembly.ts'
import { box, bytes, fullBox, u16, u32 } from './avif/boxes.ts'

const base64 = (text: string) => new Uint8Array(Buffer.from(text, 'base64'))

const COLOUR_SETTINGS = base64(
  'AQNwAAAAAAAAAAAAHvAA/P34+AAADwMgAAEAGEABDAH//wNwAAADAJAAAAMAAAMAHroCQCEAAQAqQgEBA3AAAAMAkAAAAwAAAwAeoCCBBZbq5Ka5uBAQMCAAAAMAIAAAAwAhIgABAAZEAcFzwIk=',
)
const MASK_SETTINGS = base64(
  'AQQIAAAAAAAAAAAAHvAA/Pz4+AAADwMgAAEAF0ABDAH//wQIAAADAJ/4AAADAAAeugJAIQABACZCAQEECAAAAwCf+AAAAwAAHsCCBBZbq5Ka5sCAAAADAIAAAAMAhCIAAQAGRAHBc8CJ',
)

const LARGE_SETTINGS = base64(
  'AQNwAAAAAAAAAAAAPPAA/P34+AAADwMgAAEAGEABDAH//wNwAAADAJAAAAMAAAMAPLoCQCEAAQAsQgEBA3AAAAMAkAAAAwAAAwA8oAgIBAWW6kkImubgQEDAgAAAAwCAAAADAIQiAAEAB0QBwXawYkA=',
)

/** Red and green above blue and yellow. */
export const FOUR = base64(
  'AAAA7SgBrwY48Je97bfqJP//9DXeh/NIqJ+Vul+vu3I/oZN//6FqKWCvMbeN/hMbsNSFKjTR+u2i5G4dEvHwdPmc3LPyf5G+IRPMyXp9S/9fkf/3XrXlf7Mf1re//kyd17gtmkC/ArshaOp5UEpaRbR9e3V0Q3Ztaat3HwOM0KgAFK3etCpSc6KHn3uwzRkAAzxkgh5TigkTzN4Fnzl0Q2ABe+JZ9y9l7XDX44roxpAArzylXwfTWokckW1/Nq3/uBpwnzE381966OymQYn0sWSRw+bkHCp835vk6houWU0qP9f0SXFKSGYenBWwxb9Ufw==',
)
/** Like `FOUR`, with black instead of yellow. */
export const THREE = base64(
  'AAAA0ygBrwY48Je97bfqJP//9DXeh/NIqJ+Vul+vu3I/oZN//6FqKWCvMbeN/hMbsNSFKjTR+u2i5G4dEvHwdPmc3LPyf5G+IRPMyXp9S/9fkf/3XrXi13a/2Dyf/zWndaW2bCgsPLDF3HhDCuv2qk4bix5LQJCWcvxb/atGU5BbfXvvRRoLty6c280c6Ym3NxEEOj7QKtLiZqVBe2ieKoiRVib4b3K0nEp8KFqyyPIoHhU5YuHflSMDrluflS5y2xGG32aSaTPPf+9AaDDGrNStVe4EofA=',
)
/** Opaque except for the lower right quarter. */
const MASK = base64(
  'AAAA/ygBrgxwtQvLf+DlwaewIC/68Tt+Xn/EjlpuUjp8wJRuIWjel6ykr9f7EOUiuRxjlRBiMwbtOiJlLueuT/b/Nf4VmMYG0WawvhrwtRGAl/29SV1sRRo/MlfUEG66w0PG36QxLftpDR3WqBF3UwIj8ft3td3jK5I/9ihJLbq5Q5Nyh5HvmI8+Ieq9/1R+2AtI4kxWXu0cePWV33W06h/x6QMOnNSamTV77rdr7J1TmNP+NH9RU13XECYzdnLtIuOo0BJDK4/+iJjUJiCn0BJeNNonslfHALcr22mwSt0MCjd+WHOqOpPCcaadZZZWCH8lXfX3I+4js3Qr/P9/NBDzgA==',
)
/** Like `FOUR`, with quarters of 128 by 128 pixels. */
const LARGE = base64(
  'AAAA+CgBrxMhrdq45TPAn//l4o//awzw+4AOtUPRV3dJu78+Uq3rez/8xRf/nsgU5zJ+WiI+34WBKKLkeDcWDhFBKmTPqq+kGPX5XAAu6gU7cYezJjN9+k34XWSBMNBjM0fw/X9usdy4nnXP6AqADqiqcT/X//bqoR/M2i//BKsxgHDDwvS1v9E+4HUf6NNb+hXmOpc6+smiVQpHwIcAAFRvNg1qHuJ0R7rKiEg0OgBDjC6GhjyKx8CNoAA9fuEyY6/XZOmwoCeyACfr00CI2LFO8jlLLckwgAsKwpoFK5iIOBq2hg4AOA8+cGkEt5/hwsOgnEDhfzFp/gFH',
)

export const RED = [204, 51, 51]
export const GREEN = [51, 170, 51]
export const BLUE = [51, 51, 204]
export const YELLOW = [204, 204, 51]

const settings = (record: Uint8Array): Property => ({ box: box('hvcC', record), essential: true })

/** Primaries and transfer of ITU-T H.273. */
export const codePoints = (primaries: number, transfer: number): Property => ({
  box: box('colr', 'nclx', u16(primaries, transfer, 6), [0x80]),
})
export const profiled = (profile: Uint8Array): Property => ({ box: box('colr', 'prof', profile) })
const auxiliary = (type: string): Property => ({ box: fullBox('auxC', 0, 0, type, [0]), essential: true })

/** A coded image of 256 by 256 pixels, not in a grid, cropped to its middle. */
export const croppedTo = (id: number, width: number, height: number, more: Property[] = []): Part => ({
  id,
  type: 'hvc1',
  data: LARGE,
  properties: [settings(LARGE_SETTINGS), ispe(256, 256), clap(width, height), ...more],
})

export interface HeicPlan {
  /** Extra properties of the primary image. */
  properties?: Property[]
  /** Number of columns. The grid has one row of tiles, each cropped to 64 by 32 pixels. */
  columns?: number
  /** Type of the primary image, with the inputs of a grid. */
  kind?: string
  transparent?: boolean
  /** Types of auxiliary images to add. */
  auxiliaries?: string[]
  exif?: Uint8Array
  /** More items. */
  more?: Part[]
  plan?: Plan
}

export function heic(options: HeicPlan = {}): Uint8Array {
  const { properties = [], columns = 1, kind = 'grid', auxiliaries = [], exif, more = [] } = options
  const tile = (id: number, data: Uint8Array, record = COLOUR_SETTINGS): Part => ({
    id,
    type: 'hvc1',
    hidden: true,
    data,
    properties: [settings(record), ispe(64, 64)],
  })
  const width = 64 * columns
  const grid = (id: number, own: Property[], type = 'grid'): Part => ({
    id,
    type,
    data: bytes([0, 0, 0, columns - 1], u16(width, 32)),
    inIdat: true,
    properties: [ispe(width, 32), ...own],
  })
  const tiles = Array.from({ length: columns }, (_, i) => i + 2)
  const items = [grid(1, properties, kind), ...tiles.map((id) => tile(id, id === 2 ? FOUR : THREE))]
  const references: NonNullable<Plan['references']> = [['dimg', 1, ...tiles]]
  if (options.transparent) {
    items.push(grid(20, [auxiliary('urn:mpeg:hevc:2015:auxid:1')]), tile(21, MASK, MASK_SETTINGS))
    references.push(['dimg', 20, 21], ['auxl', 20, 1])
  }
  auxiliaries.forEach((type, i) => {
    items.push({
      ...tile(30 + i, THREE),
      properties: [settings(COLOUR_SETTINGS), ispe(64, 64), auxiliary(type)],
    })
    references.push(['auxl', 30 + i, 1])
  })
  if (exif) {
    items.push({ id: 40, type: 'Exif', data: bytes(u32(0), exif) })
    references.push(['cdsc', 40, 1])
  }
  return assemble({
    major: 'heic',
    brands: ['mif1', 'heic'],
    primary: 1,
    ...options.plan,
    items: [...items, ...more],
    references: [...references, ...(options.plan?.references ?? [])],
  })
}
