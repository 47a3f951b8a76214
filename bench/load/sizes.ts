/** Images of the sizes that most benches read. */

export const SMALL = { name: '10 KB', bytes: 10_240 }
export const MEDIUM = { name: '200 KB', bytes: 204_800 }
export const LARGE = { name: '2 MB', bytes: 2_097_152 }
