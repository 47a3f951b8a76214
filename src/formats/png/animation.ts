/** APNG (W3C PNG 3, 11.3.6): frames are counted, numbered, and lie inside the picture. */
import { checkAnimation, damaged } from '../damaged.ts'
import { be32At } from './chunks.ts'
import { canHold, holdsMore, type PngHeader } from './header.ts'

export interface PngAnimation {
  readonly frames: number
  /** A frame's header. `beforePicture`: no IDAT has come yet. */
  control(body: Uint8Array, beforePicture: boolean): void
  /** Coded bytes of a frame, its number first. `length`: of the whole chunk's body. Unit: bytes. */
  data(start: Uint8Array, length: number): void
  /** Throws if frames are missing. */
  finish(): void
}

const ACTL_BYTES = 8
const FCTL_BYTES = 26

function damagedApng(what: string): Error {
  return damaged(`The animated PNG file is damaged: ${what}.`)
}

/** `body`: of acTL. */
export function readAnimation(body: Uint8Array, header: PngHeader): PngAnimation {
  if (body.length !== ACTL_BYTES) throw damagedApng(`acTL has ${body.length} bytes instead of ${ACTL_BYTES}`)
  const frames = be32At(body, 0)
  if (frames < 1) throw damagedApng('acTL announces no frames')
  let controls = 0
  let sequence = 0
  /** The frame that fdAT chunks fill now; the picture itself fills a frame that starts before it. */
  let filling: { width: number; height: number; bytes: number } | null = null

  function number(body: Uint8Array): void {
    if (be32At(body, 0) !== sequence++)
      throw damagedApng('the sequence numbers of its frames are not in order')
  }

  function close(): void {
    if (!filling) return
    const { bytes, width, height } = filling
    if (bytes === 0) throw damagedApng('a frame has no data')
    if (!canHold(bytes, header, width, height)) throw damagedApng('a part of a frame is missing')
    if (holdsMore(bytes, header, width, height))
      throw damagedApng('the data of a frame goes on after its end')
  }

  return {
    frames,
    control(body, beforePicture) {
      if (body.length !== FCTL_BYTES)
        throw damagedApng(`fcTL has ${body.length} bytes instead of ${FCTL_BYTES}`)
      if (++controls > frames) throw damagedApng('it has more frames than acTL announces')
      number(body)
      close()
      const [width, height, x, y] = [be32At(body, 4), be32At(body, 8), be32At(body, 12), be32At(body, 16)]
      const inside = width > 0 && height > 0 && x + width <= header.width && y + height <= header.height
      const whole = width === header.width && height === header.height
      if (!inside) throw damagedApng('a frame lies outside the picture')
      if (beforePicture && (controls > 1 || !whole))
        throw damagedApng('its first frame is not the still picture')
      if ((body[24] ?? 0) > 2 || (body[25] ?? 0) > 1)
        throw damagedApng('fcTL names a dispose or blend operation that does not exist')
      filling = beforePicture ? null : { width, height, bytes: 0 }
    },
    data(start, length) {
      if (!filling) throw damagedApng('fdAT comes before its fcTL')
      if (length < 4) throw damagedApng('fdAT has no sequence number')
      number(start)
      filling.bytes += length - 4
    },
    finish() {
      close()
      if (controls !== frames) throw damagedApng('it has fewer frames than acTL announces')
      checkAnimation(header.width, header.height, frames)
    },
  }
}
