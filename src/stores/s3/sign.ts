/**
 * AWS Signature Version 4 (Amazon S3 API Reference, "Authenticating Requests: Using the Authorization Header"). Hashes are
 * computed synchronously: a single thread-pool round trip costs more than all of them.
 */
import { createHmac, hash } from 'node:crypto'
import { encodeName } from './url.ts'

export interface Credentials {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string | undefined
}

/** SHA-256 of the empty string. */
export const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

export interface UnsignedRequest {
  method: string
  /** Percent-encoded as in RFC 3986, without the query. */
  path: string
  query: Record<string, string>
  /** Lower-case names. */
  headers: Record<string, string>
}

/** Returns the headers to send, including `host`. The request must have `x-amz-content-sha256`. */
export type Sign = (request: UnsignedRequest, now?: Date) => Record<string, string>

export function createSigner(
  { accessKeyId, secretAccessKey, sessionToken }: Credentials,
  { host, region }: { host: string; region: string },
): Sign {
  // The key changes daily.
  let cached: { day: string; key: Buffer } = { day: '', key: Buffer.alloc(0) }

  function keyOf(day: string): Buffer {
    if (cached.day !== day) {
      const key = [region, 's3', 'aws4_request'].reduce(hmac, hmac(`AWS4${secretAccessKey}`, day))
      cached = { day, key }
    }
    return cached.key
  }

  return ({ method, path, query, headers }, now = new Date()) => {
    const stamp = now.toISOString().replace(/[-:]|\.\d{3}/g, '')
    const day = stamp.slice(0, 8)
    const sent: Record<string, string> = { ...headers, host, 'x-amz-date': stamp }
    if (sessionToken !== undefined) sent['x-amz-security-token'] = sessionToken
    const names = Object.keys(sent).filter(isSigned).sort()
    const signed = names.join(';')
    const canonical = [
      method,
      path,
      queryOf(query),
      ...names.map((name) => `${name}:${sent[name]!.trim().replace(/ +/g, ' ')}`),
      '',
      signed,
      sent['x-amz-content-sha256'],
    ].join('\n')
    const scope = `${day}/${region}/s3/aws4_request`
    const text = `AWS4-HMAC-SHA256\n${stamp}\n${scope}\n${hash('sha256', canonical)}`
    const signature = hmac(keyOf(day), text).toString('hex')
    sent.authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${signed}, Signature=${signature}`
    return sent
  }
}

/** Proxies may rewrite all other headers. */
function isSigned(name: string): boolean {
  return name === 'host' || name === 'cache-control' || name.startsWith('x-amz-') || name.startsWith('if-')
}

/** The encoded query string, sorted by name. */
export function queryOf(query: Record<string, string>): string {
  return Object.keys(query)
    .sort()
    .map((name) => `${encodeName(name)}=${encodeName(query[name]!)}`)
    .join('&')
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
