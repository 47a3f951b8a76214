import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSigner, EMPTY_SHA256 } from '../../../src/stores/s3/sign.ts'

/** Example from Amazon's S3 API Reference, "Authenticating Requests: Using the Authorization Header". */
test('matches Amazon’s example signature, with a new key for each day', () => {
  const sign = createSigner(
    { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
    { host: 'examplebucket.s3.amazonaws.com', region: 'us-east-1' },
  )
  const headers = { 'x-amz-content-sha256': EMPTY_SHA256 }
  const request = { method: 'GET', path: '/', query: { prefix: 'J', 'max-keys': '2' }, headers }
  sign(request, new Date('2013-05-23T00:00:00Z'))
  assert.equal(
    sign(request, new Date('2013-05-24T00:00:00Z')).authorization,
    'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, ' +
      'SignedHeaders=host;x-amz-content-sha256;x-amz-date, ' +
      'Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  )
})
