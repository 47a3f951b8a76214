/** Brands of HEIF files whose pictures are coded in HEVC (ISO/IEC 23008-12, 10.3), still and moving. */
export const HEIC_BRANDS: ReadonlySet<string> = new Set('heic heix heim heis hevc hevx hevm hevs'.split(' '))
