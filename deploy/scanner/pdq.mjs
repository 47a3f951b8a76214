/**
 * PDQ, a 256-bit perceptual hash: see hashing.pdf in https://github.com/facebook/ThreatExchange/tree/main/pdq. Two pictures are
 * considered copies if at most 31 bits differ.
 */

const SIDE = 64
const KEPT = 16

/** The hash of a narrower or lower picture is meaningless. */
const MIN_SIDE = 5

/** Rows 1 to 16 of the discrete cosine transform of 64 values. */
const DCT = Array.from({ length: KEPT }, (_, row) =>
  Float64Array.from(
    { length: SIDE },
    (_, at) => Math.sqrt(2 / SIDE) * Math.cos((Math.PI / 2 / SIDE) * (row + 1) * (2 * at + 1)),
  ),
)

/**
 * The hashes of a picture and of its seven rotations and reflections, in hex. `quality`: 0 to 100; below 50 a hash is
 * unreliable. `luma`: rows of brightness, 0 to 255.
 */
export function pdq(luma, width, height) {
  const small = downsampled(Float64Array.from(luma), width, height)
  const spectrum = transformed(small)
  const quality = Math.min(width, height) < MIN_SIDE ? 0 : qualityOf(small)
  return { hashes: [...new Set(turnsOf(spectrum).map(hashOf))], quality }
}

/** Concatenated hashes in hex as eight words each. */
export function wordsOf(hashes) {
  return new Uint32Array(Uint8Array.from(Buffer.from(hashes, 'hex')).buffer)
}

/** The number of differing bits (Hamming distance) of the hashes at two positions. Stops counting beyond `max`. */
export function distance(words, at, others, otherAt, max) {
  let bits = 0
  for (let index = 0; index < 8 && bits <= max; index++) {
    let differ = words[at + index] ^ others[otherAt + index]
    differ = (differ - ((differ >>> 1) & 0x55555555)) | 0
    differ = (differ & 0x33333333) + ((differ >>> 2) & 0x33333333)
    bits += Math.imul((differ + (differ >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
  }
  return bits
}

/** A tent filter, applied as two box filters, followed by subsampling. */
function downsampled(luma, width, height) {
  const other = new Float64Array(luma.length)
  const [across, down] = [windowOf(width), windowOf(height)]
  for (let pass = 0; pass < 2; pass++) {
    for (let y = 0; y < height; y++) box(luma, other, y * width, width, 1, across)
    for (let x = 0; x < width; x++) box(other, luma, x, height, width, down)
  }
  const small = new Float64Array(SIDE * SIDE)
  for (let y = 0; y < SIDE; y++) {
    const from = Math.floor(((y + 0.5) * height) / SIDE) * width
    for (let x = 0; x < SIDE; x++) small[y * SIDE + x] = luma[from + Math.floor(((x + 0.5) * width) / SIDE)]
  }
  return small
}

function windowOf(length) {
  return Math.floor((length + 2 * SIDE - 1) / (2 * SIDE))
}

/** Moving averages over `window` of `length` values; narrower at the ends. */
function box(from, to, start, length, stride, window) {
  const ahead = Math.floor((window + 2) / 2) - 1
  const behind = window - ahead - 1
  let sum = 0
  let count = 0
  for (let at = -ahead; at < length; at++) {
    if (at + ahead < length) {
      sum += from[start + (at + ahead) * stride]
      count++
    }
    if (at - behind > 0) {
      sum -= from[start + (at - behind - 1) * stride]
      count--
    }
    if (at >= 0) to[start + at * stride] = sum / count
  }
}

function transformed(small) {
  return DCT.map((down) => {
    const row = new Float64Array(SIDE)
    for (let y = 0; y < SIDE; y++) {
      for (let x = 0; x < SIDE; x++) row[x] += down[y] * small[y * SIDE + x]
    }
    return DCT.map((across) => across.reduce((sum, weight, x) => sum + weight * row[x], 0))
  })
}

/** Reflections change signs in the spectrum, and rotations transpose it. */
function turnsOf(spectrum) {
  const sign = (nth) => (nth % 2 === 0 ? -1 : 1)
  const mirrored = (of) => of.map((row) => row.map((value, x) => value * sign(x)))
  const flipped = (of) => of.map((row, y) => row.map((value) => value * sign(y)))
  const exchanged = spectrum.map((_, y) => spectrum.map((row) => row[y]))
  return [spectrum, exchanged].flatMap((of) => [of, mirrored(of), flipped(of), mirrored(flipped(of))])
}

/** One bit for each value above the median. 16-bit words, last one first. */
function hashOf(spectrum) {
  const values = spectrum.flat()
  const median = values.toSorted((a, b) => a - b)[127]
  const words = spectrum.map((row) => row.reduce((word, value, x) => word | (value > median ? 1 << x : 0), 0))
  return words
    .reverse()
    .map((word) => word.toString(16).padStart(4, '0'))
    .join('')
}

/** Sum of gradients: a plain picture has no features to recognize. */
function qualityOf(small) {
  let sum = 0
  const add = (a, b) => {
    sum += Math.abs(Math.trunc(((small[a] - small[b]) * 100) / 255))
  }
  for (let y = 0; y < SIDE; y++) {
    for (let x = 0; x < SIDE; x++) {
      if (y + 1 < SIDE) add(y * SIDE + x, (y + 1) * SIDE + x)
      if (x + 1 < SIDE) add(y * SIDE + x, y * SIDE + x + 1)
    }
  }
  return Math.min(100, Math.floor(sum / 90))
}
