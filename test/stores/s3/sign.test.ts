import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSigner, EMPTY_SHA256 } from '../../../src/stores/s3/sign.ts'

/** Examples from Amazon's S3 API Reference, "Authenticating Requests: Using the Authorization Header". */
const sign = createSigner(
  { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
  { host: 'examplebucket.s3.amazonaws.com', region: 'us-east-1' },
)
const DAY = new Date('2013-05-24T00:00:00Z')

for (const [name, query, signature] of [
  ['a lifecycle', { lifecycle: '' }, 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543'],
  [
    'a listing',
    { prefix: 'J', 'max-keys': '2' },
    '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  ],
] as const) {
  test(`matches Amazon's example signature of ${name}`, () => {
    const headers = { 'x-amz-content-sha256': EMPTY_SHA256 }
    const { authorization } = sign({ method: 'GET', path: '/', query, headers }, DAY)
    assert.equal(
      authorization,
      'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, ' +
        `SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=${signature}`,
    )
  })
}

test('derives a new key each day', () => {
  const headers = { 'x-amz-content-sha256': EMPTY_SHA256 }
  const signed = (now: Date) => sign({ method: 'GET', path: '/a', query: {}, headers }, now).authorization
  const next = new Date('2013-05-25T00:00:00Z')
  const [first, second] = [signed(DAY), signed(next)]
  assert.notEqual(first, second)
  assert.equal(signed(DAY), first)
})
