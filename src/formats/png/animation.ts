/** APNG (W3C PNG 3, 11.3.6): frames are counted, numbered, and lie inside the picture. */
import { damaged } from '../damaged.ts'
import { canHold, type PngHeader } from './header.ts'

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

function inconsistent(): Error {
  return damaged('The animated PNG file is inconsistent: its frames do not fit together.')
}

/** `body`: of acTL. */
export function readAnimation(body: Uint8Array, header: PngHeader): PngAnimation {
  if (body.length !== ACTL_BYTES) throw inconsistent()
  const frames = u32(body, 0)
  if (frames < 1) throw inconsistent()
  let controls = 0
  let sequence = 0
  /** Of the frame that fdAT chunks fill now; the picture itself fills a frame that starts before it. */
  let filling: { width: number; height: number; bytes: number } | null = null

  function number(body: Uint8Array): void {
    if (u32(body, 0) !== sequence++) throw inconsistent()
  }

  function close(): void {
    if (filling && !canHold(filling.bytes, header, filling.width, filling.height)) throw inconsistent()
  }

  return {
    frames,
    control(body, beforePicture) {
      if (body.length !== FCTL_BYTES || ++controls > frames) throw inconsistent()
      number(body)
      close()
      const [width, height, x, y] = [u32(body, 4), u32(body, 8), u32(body, 12), u32(body, 16)]
      const inside = width > 0 && height > 0 && x + width <= header.width && y + height <= header.height
      const whole = width === header.width && height === header.height
      if (!inside || (beforePicture && (controls > 1 || !whole)) || body[24]! > 2 || body[25]! > 1) {
        throw inconsistent()
      }
      filling = beforePicture ? null : { width, height, bytes: 0 }
    },
    data(start, length) {
      if (!filling || length < 4) throw inconsistent()
      number(start)
      filling.bytes += length - 4
    },
    finish() {
      close()
      if (controls !== frames) throw inconsistent()
    },
  }
}

function u32(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0
}
