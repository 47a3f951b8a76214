/** Verifies AWS Signature Version 4 with a third-party implementation. */
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
  const { authorization = '', host, 'x-amz-date': date } = request.headers
  const [, accessKeyId, region, signed = ''] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/\d+\/([^/]+)\/.+, SignedHeaders=([^,]+), /.exec(authorization) ??
    []
  if (accessKeyId === undefined) return 'AccessDenied'
  if (accessKeyId !== keys.accessKeyId) return 'InvalidAccessKeyId'
  if (region !== keys.region) return 'AuthorizationHeaderMalformed'

  const time = Date.parse(`${date}`.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'))
  if (!(Math.abs(Date.now() - time) <= MAX_SKEW_MS)) return 'RequestTimeTooSkewed'

  const names = signed.split(';')
  const mustBeSigned = Object.keys(request.headers).filter((name) => name.startsWith('x-amz-'))
  if (!names.includes('host') || !mustBeSigned.every((name) => names.includes(name))) return 'AccessDenied'

  const signer = new AwsV4Signer({
    method: request.method!,
    url: `http://${host}${request.url}`,
    headers: Object.fromEntries(names.map((name) => [name, String(request.headers[name] ?? '')])),
    ...keys,
    service: 's3',
    datetime: `${date}`,
    allHeaders: true,
  })
  return (await signer.authHeader()) === authorization ? null : 'SignatureDoesNotMatch'
}
