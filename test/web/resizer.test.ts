import assert from 'node:assert/strict'
import { it } from 'node:test'
import { parseConfig } from '../../src/config.ts'
import type { ImageRecord } from '../../src/stores/object-store.ts'
import { createResizer } from '../../src/web/resizer.ts'

const PHOTOGRAPH = {
  id: 'AbCdEf12345',
  type: 'image/jpeg',
  width: 4000,
  height: 3000,
  size: 2_000_000,
  animated: false,
} as ImageRecord

const RAW = 'https://pics.example/raw/AbCdEf12345.jpg'

/** Templates from the products' documentation. */
const TEMPLATES: [product: string, template: string, address: string][] = [
  [
    'imgproxy (docs.imgproxy.net, usage/processing)',
    'https://img.example/insecure/rs:fit:1200:1200/plain/{url}@jpg',
    `https://img.example/insecure/rs:fit:1200:1200/plain/${RAW}@jpg`,
  ],
  [
    'Cloudflare (developers.cloudflare.com, images/transform-images/transform-via-url)',
    'https://pics.example/cdn-cgi/image/fit=scale-down,width=1200,height=1200,format=jpeg/{url}',
    `https://pics.example/cdn-cgi/image/fit=scale-down,width=1200,height=1200,format=jpeg/${RAW}`,
  ],
]
for (const [product, template, address] of TEMPLATES) {
  it(`builds URLs for ${product}`, () => {
    const { previewTemplate } = parseConfig({ PREVIEW_TEMPLATE: template })
    const resizer = createResizer(previewTemplate, 'https://pics.example')!
    assert.deepEqual(resizer.resized(PHOTOGRAPH), { address, width: 1200, height: 900 })
    assert.equal(resizer.origin, new URL(address).origin)
  })
}

it('skips animated and small images', () => {
  const resizer = createResizer('https://img.example/{url}', 'https://pics.example')!
  assert.equal(resizer.resized({ ...PHOTOGRAPH, animated: true }), null)
  assert.equal(resizer.resized({ ...PHOTOGRAPH, type: 'image/gif' }), null)
  assert.equal(resizer.resized({ ...PHOTOGRAPH, size: 122_880 }), null)
  assert.equal(resizer.resized({ ...PHOTOGRAPH, height: 1 })?.height, 1)
  assert.equal(createResizer(null, 'https://pics.example'), null)
})
