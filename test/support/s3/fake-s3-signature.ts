/** Verifies AWS Signature Version 4 with a third-party implementation. */
import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { AwsV4Signer } from 'aws4fetch'

export interface Keys {
  accessKeyId: string
  secretAccessKey: string
  region: string
}

const MAX_SKEW_MS = 15 * 60 * 1000

/** The S3 error code, or `null` if the signature is valid. */
export async function signatureFault(request: IncomingMessage, keys: Keys): Promise<string | null> {
  const parts =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      request.headers.authorization ?? '',
    )
  if (parts === null) return 'AccessDenied'
  const [credential, signedHeaders, signature] = parts.slice(1) as [string, string, string]
  const [accessKeyId, day = '', region, service, terminator] = credential.split('/')
  if (accessKeyId !== keys.accessKeyId) return 'InvalidAccessKeyId'
  if (service !== 's3' || terminator !== 'aws4_request') return 'AuthorizationHeaderMalformed'
  if (region !== keys.region) return 'AuthorizationHeaderMalformed'

  const date = String(request.headers['x-amz-date'])
  if (!/^\d{8}T\d{6}Z$/.test(date) || !date.startsWith(day)) return 'AccessDenied'
  const [year, month, dayOfMonth, hour, minute, second] = date.match(/^\d{4}|\d\d/g)!
  const time = Date.parse(`${year}-${month}-${dayOfMonth}T${hour}:${minute}:${second}Z`)
  if (!(Math.abs(Date.now() - time) <= MAX_SKEW_MS)) return 'RequestTimeTooSkewed'

  const names = signedHeaders.split(';')
  const mustBeSigned = Object.keys(request.headers).filter((name) => name.startsWith('x-amz-'))
  if (!names.includes('host') || !mustBeSigned.every((name) => names.includes(name))) return 'AccessDenied'
  if (names.join(';') !== [...names].sort().join(';')) return 'SignatureDoesNotMatch'

  const signer = new AwsV4Signer({
    method: request.method!,
    url: `http://${request.headers.host}${request.url}`,
    headers: Object.fromEntries(names.map((name) => [name, String(request.headers[name] ?? '')])),
    ...keys,
    service,
    datetime: date,
    allHeaders: true,
  })
  const expected = Buffer.from(await signer.signature())
  return timingSafeEqual(expected, Buffer.from(signature)) ? null : 'SignatureDoesNotMatch'
}
