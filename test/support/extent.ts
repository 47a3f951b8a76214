/** How much is tried: in CI and by `npm run test:all` everything, in the daily `npm test` a part of what is random. */
export const IS_WHOLE = process.env.PINHOLE_CI !== undefined || process.env.PINHOLE_WHOLE !== undefined

/** Runs of a property, places in a file, bytes of a hostile one. `daily`: enough to notice what is broken for many. */
export function extent(whole: number, daily: number): number {
  return IS_WHOLE ? whole : daily
}
