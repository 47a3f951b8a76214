/** Brands of HEIF files with HEVC-coded images and image sequences (ISO/IEC 23008-12, 10.3). */
export const HEIC_BRANDS: ReadonlySet<string> = new Set('heic heix heim heis hevc hevx hevm hevs'.split(' '))
