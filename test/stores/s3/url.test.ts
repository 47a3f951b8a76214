import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { addressOf, parseS3Url } from '../../../src/stores/s3/url.ts'

describe('an S3 URL', () => {
  test('needs only a bucket', () => {
    assert.deepEqual(parseS3Url('s3://my-bucket', 'eu-west-1'), {
      bucket: 'my-bucket',
      prefix: '',
      endpoint: 'https://s3.eu-west-1.amazonaws.com',
      region: 'eu-west-1',
      style: 'virtual',
    })
    assert.equal(parseS3Url('s3://my-bucket').region, 'us-east-1')
    assert.deepEqual(parseS3Url('s3://my-bucket/'), parseS3Url('s3://my-bucket'))
  })

  test('supports every parameter', () => {
    assert.deepEqual(
      parseS3Url(
        's3://b.u.cket/a/b?endpoint=http://127.0.0.1:8333/s3/&region=garage&style=path',
        'eu-west-1',
      ),
      {
        bucket: 'b.u.cket',
        prefix: 'a/b/',
        endpoint: 'http://127.0.0.1:8333/s3',
        region: 'garage',
        style: 'path',
      },
    )
    assert.equal(parseS3Url('s3://bucket?endpoint=https://minio.example').style, 'path')
    assert.equal(parseS3Url('s3://bucket?style=path').style, 'path')
    assert.equal(
      parseS3Url('s3://bucket?endpoint=https%3A%2F%2Fx.example%3A9').endpoint,
      'https://x.example:9',
    )
  })

  test('accepts any prefix', () => {
    assert.equal(parseS3Url('s3://bucket/a').prefix, 'a/')
    assert.equal(parseS3Url('s3://bucket/a/').prefix, 'a/')
    assert.equal(parseS3Url('s3://bucket/%C3%A4%20+%25%3F').prefix, 'ä +%?/')
  })

  const mistakes: [string, RegExp][] = [
    ['', /must look like s3:\/\/bucket/],
    ['my-bucket', /must look like/],
    ['https://my-bucket', /must look like/],
    ['s3://', /"" is not a bucket name/],
    ['s3://ab', /"ab" is not a bucket name/],
    ['s3://My_Bucket', /"My_Bucket" is not a bucket name/],
    ['s3://-bucket', /not a bucket name/],
    ['s3://bucket:9000', /the port belongs in endpoint/],
    ['s3://AKID:secret@bucket', /keys do not belong in the URL/],
    ['s3://bucket?regoin=x', /unknown parameter "regoin" \(known: endpoint, region, style\)/],
    ['s3://bucket?region=a&region=b', /region is given twice/],
    ['s3://bucket?region=a/b', /"a\/b" is not a region/],
    ['s3://bucket?region=', /"" is not a region/],
    ['s3://bucket?endpoint=minio:9000', /endpoint must be an http or https address, not "minio:9000"/],
    ['s3://bucket?endpoint=', /endpoint must be/],
    ['s3://bucket?endpoint=http://u:p@h', /an address alone/],
    ['s3://bucket?style=vhost', /style must be path or virtual, not "vhost"/],
    ['s3://a.bucket', /use style=path/],
    ['s3://bucket?endpoint=http://h/p&style=virtual', /needs style=path/],
    ['s3://bucket/a//b', /empty segment/],
    ['s3://bucket//', /empty segment/],
    ['s3://bucket/%00', /control character/],
    ['s3://bucket/%ff', /not percent-encoded UTF-8/],
    [`s3://bucket/${'a'.repeat(1000)}`, /longer than 900 bytes/],
    ['s3://bucket/a#b', /# has no meaning/],
  ]
  for (const [text, message] of mistakes) {
    test(`is rejected with a reason: ${text.slice(0, 40)}`, () => {
      assert.throws(() => parseS3Url(text), message)
    })
  }

  test('is rejected with all mistakes listed', () => {
    assert.throws(
      () => parseS3Url('s3://B?style=x&endpoint=ftp://h&nothing=1'),
      (error: Error) => {
        assert.equal(error.message.split('; ').length, 4, error.message)
        return true
      },
    )
  })

  test('is rejected without revealing a key', () => {
    assert.throws(
      () => parseS3Url('s3://AKID:hunter2@B'),
      (error: Error) => !error.message.includes('hunter2'),
    )
  })
})

test('builds URLs of keys', () => {
  const path = parseS3Url('s3://bucket?endpoint=http://h:1/base')
  assert.equal(addressOf(path), 'http://h:1/base/bucket')
  assert.equal(addressOf(path, "ä b/+'/id"), 'http://h:1/base/bucket/%C3%A4%20b/%2B%27/id')
  const virtual = parseS3Url('s3://bucket')
  assert.equal(addressOf(virtual), 'https://bucket.s3.us-east-1.amazonaws.com/')
  assert.equal(addressOf(virtual, 'id'), 'https://bucket.s3.us-east-1.amazonaws.com/id')
})
