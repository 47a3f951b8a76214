/** Where `needle` starts in the bytes, or -1. */
export type Search = (bytes: Uint8Array) => number

/**
 * Horspool's search (Practical fast searching in strings, 1980): it looks at one byte in `needle.length`, where no byte
 * is like those of the needle.
 */
export function searchFor(needle: Uint8Array): Search {
  const last = needle.length - 1
  const shift = new Uint8Array(256).fill(needle.length)
  for (let i = 0; i < last; i++) shift[needle[i]!] = last - i
  const afterLast = shift[needle[last]!]!
  // 0 for the needle's last byte: all others are passed with one look.
  const skip = shift.with(needle[last]!, 0)

  return (bytes) => {
    for (let end = last; end < bytes.length; ) {
      const step = skip[bytes[end]!]!
      if (step > 0) {
        end += step
        continue
      }
      // The first byte of a delimiter is in it once: a body of nothing but near misses costs no more for it.
      if (bytes[end - last] === needle[0] && endsAt(bytes, end)) return end - last
      end += afterLast
    }
    return -1
  }

  function endsAt(bytes: Uint8Array, end: number): boolean {
    let i = last
    while (i >= 0 && bytes[end - last + i] === needle[i]) i--
    return i < 0
  }
}
