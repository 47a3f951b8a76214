/** Extent of randomized tests: full in CI and with `npm run test:all`, reduced in the daily `npm test`. */
export const IS_WHOLE = process.env.PINHOLE_CI !== undefined || process.env.PINHOLE_WHOLE !== undefined

/** For example the number of runs of a property. `daily`: enough to notice most regressions. */
export function extent(whole: number, daily: number): number {
  return IS_WHOLE ? whole : daily
}
