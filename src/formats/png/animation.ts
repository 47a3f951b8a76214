/** APNG (W3C PNG 3, 11.3.6): validates the count, sequence numbers and bounds of frames. */
import { checkAnimation, damaged } from '../damaged.ts'
import { be32At } from './chunks.ts'
import { canHoldImage, exceedsImage, type PngHeader } from './header.ts'

export interface PngAnimation {
  /** Whether its only frame is the still picture. Only valid after `finish`. */
  isStill(): boolean
  /** Adds a frame header (fcTL). `beforePicture`: it precedes the first IDAT. */
  control(body: Uint8Array, beforePicture: boolean): void
  /** Adds frame data (fdAT). `start`: the start of the body, with the sequence number. `length`: of the body. Unit: bytes. */
  data(start: Uint8Array, length: number): void
  /** Throws when frames are missing. */
  finish(): void
}

const ACTL_BYTES = 8
const FCTL_BYTES = 26

function damagedApng(problem: string): Error {
  return damaged(`The animated PNG file is damaged: ${problem}.`)
}

/** `body`: of acTL. */
export function readAnimation(body: Uint8Array, header: PngHeader): PngAnimation {
  if (body.length !== ACTL_BYTES) throw damagedApng(`acTL has ${body.length} bytes instead of ${ACTL_BYTES}`)
  const frames = be32At(body, 0)
  if (frames < 1) throw damagedApng('acTL declares no frames')
  let controls = 0
  let sequence = 0
  /** The frame that fdAT chunks currently fill; `null` for a first frame whose data is the IDAT. */
  let current: { width: number; height: number; bytes: number } | null = null

  function number(body: Uint8Array): void {
    if (be32At(body, 0) !== sequence++)
      throw damagedApng('the sequence numbers of its frames are not in order')
  }

  function endFrame(): void {
    if (!current) return
    const { bytes, width, height } = current
    if (bytes === 0) throw damagedApng('a frame has no data')
    if (!canHoldImage(bytes, header, width, height)) throw damagedApng('a part of a frame is missing')
    if (exceedsImage(bytes, header, width, height))
      throw damagedApng('the data of a frame continues after its end')
  }

  return {
    isStill: () => frames === 1 && current === null,
    control(body, beforePicture) {
      if (body.length !== FCTL_BYTES)
        throw damagedApng(`fcTL has ${body.length} bytes instead of ${FCTL_BYTES}`)
      if (++controls > frames) throw damagedApng('it has more frames than acTL declares')
      number(body)
      endFrame()
      const [width, height, x, y] = [be32At(body, 4), be32At(body, 8), be32At(body, 12), be32At(body, 16)]
      const inside = width > 0 && height > 0 && x + width <= header.width && y + height <= header.height
      const whole = width === header.width && height === header.height
      if (!inside) throw damagedApng('a frame lies outside the picture')
      if (beforePicture && (controls > 1 || !whole))
        throw damagedApng('its first frame is not the still picture')
      if ((body[24] ?? 0) > 2 || (body[25] ?? 0) > 1)
        throw damagedApng('fcTL names a dispose or blend operation that does not exist')
      current = beforePicture ? null : { width, height, bytes: 0 }
    },
    data(start, length) {
      if (!current) throw damagedApng('fdAT comes before its fcTL')
      if (length < 4) throw damagedApng('fdAT has no sequence number')
      number(start)
      current.bytes += length - 4
    },
    finish() {
      endFrame()
      if (controls !== frames) throw damagedApng('it has fewer frames than acTL declares')
      checkAnimation(header.width, header.height, frames)
    },
  }
}
