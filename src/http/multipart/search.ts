/** Where `needle` starts in the bytes, or -1. */
export type Search = (bytes: Uint8Array) => number

/**
 * Horspool's search (Practical fast searching in strings, 1980): it looks at one byte in `needle.length`, where no byte
 * is like those of the needle.
 */
export function searchFor(needle: Uint8Array): Search {
  const last = needle.length - 1
  const skip = new Uint8Array(256).fill(needle.length)
  for (let i = 0; i < last; i++) skip[needle[i]!] = last - i

  return (bytes) => {
    for (let end = last; end < bytes.length; end += skip[bytes[end]!]!) {
      // The first byte of a delimiter is in it once: a body of nothing but near misses costs no more for it.
      if (bytes[end - last] !== needle[0]) continue
      let i = last
      while (i >= 0 && bytes[end - last + i] === needle[i]) i--
      if (i < 0) return end - last
    }
    return -1
  }
}
