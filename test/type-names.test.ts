import assert from 'node:assert/strict'
import { it } from 'node:test'
import { typeName } from '../src/protocol.ts'

it('uses the common names of image types', () => {
  const types = ['jpeg', 'png', 'gif', 'webp', 'avif', 'heic', 'jxl', 'tiff'] as const
  assert.deepEqual(
    types.map((type) => typeName(`image/${type}`)),
    ['JPEG', 'PNG', 'GIF', 'WebP', 'AVIF', 'HEIC', 'JPEG XL', 'TIFF'],
  )
})
