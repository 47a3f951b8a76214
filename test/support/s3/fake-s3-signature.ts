/** Checks AWS Signature Version 4 of a request, written from its specification and not from the client's code. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

export interface Keys {
  accessKeyId: string
  secretAccessKey: string
  region: string
}

const MAX_SKEW_MS = 15 * 60 * 1000

/** The S3 error code, or `null` if the signature is right. */
export function signatureFault(request: IncomingMessage, keys: Keys): string | null {
  const header = request.headers.authorization ?? ''
  const parts =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(header)
  if (parts === null) return 'AccessDenied'
  const [, credential, signedHeaders, signature] = parts as unknown as [string, string, string, string]
  const [accessKeyId, day, region, service, terminator] = credential.split('/') as [
    string,
    string,
    string,
    string,
    string,
  ]
  if (accessKeyId !== keys.accessKeyId) return 'InvalidAccessKeyId'
  if (service !== 's3' || terminator !== 'aws4_request') return 'AuthorizationHeaderMalformed'
  if (region !== keys.region) return 'AuthorizationHeaderMalformed'

  const date = String(request.headers['x-amz-date'])
  const stamp = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date)
  if (stamp === null || !date.startsWith(day)) return 'AccessDenied'
  const [, year, month, dayOfMonth, hour, minute, second] = stamp.map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  const time = Date.UTC(year, month - 1, dayOfMonth, hour, minute, second)
  if (Math.abs(Date.now() - time) > MAX_SKEW_MS) return 'RequestTimeTooSkewed'

  const names = signedHeaders.split(';')
  const mustBeSigned = Object.keys(request.headers).filter((name) => name.startsWith('x-amz-'))
  if (!names.includes('host') || !mustBeSigned.every((name) => names.includes(name))) return 'AccessDenied'
  if (names.join(';') !== [...names].sort().join(';')) return 'SignatureDoesNotMatch'

  const canonical = [
    request.method,
    canonicalPath(request.url!),
    canonicalQuery(request.url!),
    ...names.map(
      (name) =>
        `${name}:${String(request.headers[name] ?? '')
          .trim()
          .replace(/ +/g, ' ')}`,
    ),
    '',
    signedHeaders,
    request.headers['x-amz-content-sha256'],
  ].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', date, scope, createHash('sha256').update(canonical).digest('hex')].join(
    '\n',
  )
  const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    `AWS4${keys.secretAccessKey}`,
  )
  const expected = createHmac('sha256', key).update(toSign).digest()
  return timingSafeEqual(expected, Buffer.from(signature, 'hex')) ? null : 'SignatureDoesNotMatch'
}

function canonicalPath(target: string): string {
  return target
    .split('?')[0]!
    .split('/')
    .map((name) => encode(decodeURIComponent(name)))
    .join('/')
}

function canonicalQuery(target: string): string {
  const [, query = ''] = target.split('?')
  return query
    .split('&')
    .filter(Boolean)
    .map((pair) => {
      const [name, value = ''] = pair.split('=')
      return `${encode(decodeURIComponent(name!))}=${encode(decodeURIComponent(value))}`
    })
    .sort()
    .join('&')
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
}
