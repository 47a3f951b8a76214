/** What tests of compression ask of a file. */
import assert from 'node:assert/strict'
import sharp from 'sharp'

/** Without a list of every difference, which takes minutes. */
export function sameBytes(actual: Uint8Array, expected: Uint8Array): void {
  const text = `${actual.length} and ${expected.length} bytes, not the same`
  assert.equal(Buffer.compare(actual, expected), 0, text)
}

export async function metadata(blob: Blob) {
  return sharp(await blob.bytes()).metadata()
}
