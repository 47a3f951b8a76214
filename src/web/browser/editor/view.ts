/** Which part of a picture is in sight, and how large. */

export interface Size {
  width: number
  height: number
}

export interface View {
  /** CSS pixels for a pixel of the picture. */
  scale: number
  /** Where the picture's upper left corner lies on the stage. Unit: CSS pixels. */
  x: number
  y: number
}

/** Of a picture that is larger than the stage so much may be pulled in from its edges, for the handles there. Unit: CSS pixels. */
const MARGIN = 56

/** A picture whose shorter side would get less of the stage's than this is shown in part instead. */
const LEAST_SHARE = 0.6

const MOST_SCALE = 12

/** All of the picture; of one that is very tall or very wide, its beginning. */
export function firstView(picture: Size, stage: Size): View {
  const whole = wholeScale(picture, stage)
  const isNarrow = picture.width * whole < stage.width * LEAST_SHARE
  const isFlat = picture.height * whole < stage.height * LEAST_SHARE
  const shape = picture.width / picture.height
  const isLong = Math.max(shape, 1 / shape) > 2.5
  const scale =
    isLong && isNarrow
      ? Math.min(1, stage.width / picture.width)
      : isLong && isFlat
        ? Math.min(1, (LEAST_SHARE * stage.height) / picture.height)
        : whole
  return clamped({ scale: Math.max(whole, scale), x: 0, y: 0 }, picture, stage)
}

/** `factor` times as large; what lies at the point `x`, `y` of the stage stays there. */
export function zoomed(
  view: View,
  factor: number,
  [x, y]: readonly [number, number],
  picture: Size,
  stage: Size,
): View {
  const least = wholeScale(picture, stage)
  const scale = Math.max(least, Math.min(view.scale * factor, Math.max(MOST_SCALE, least)))
  const share = scale / view.scale
  return clamped({ scale, x: x - (x - view.x) * share, y: y - (y - view.y) * share }, picture, stage)
}

export function panned(view: View, x: number, y: number, picture: Size, stage: Size): View {
  return clamped({ ...view, x: view.x + x, y: view.y + y }, picture, stage)
}

/** In the middle of the stage where it is smaller; else no further off than its edges and a margin. */
export function clamped({ scale, x, y }: View, picture: Size, stage: Size): View {
  const place = (at: number, length: number, room: number) =>
    length <= room ? (room - length) / 2 : Math.max(room - length - MARGIN, Math.min(at, MARGIN))
  return {
    scale,
    x: place(x, picture.width * scale, stage.width),
    y: place(y, picture.height * scale, stage.height),
  }
}

function wholeScale(picture: Size, stage: Size): number {
  return Math.min(1, stage.width / picture.width, stage.height / picture.height)
}
