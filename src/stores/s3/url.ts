/** Parses store URLs: `s3://bucket/prefix?endpoint=…&region=…&style=path|virtual`. */

export interface S3Location {
  bucket: string
  /** Empty, or with a trailing slash. */
  prefix: string
  /** Without a trailing slash. */
  endpoint: string
  region: string
  style: 'path' | 'virtual'
}

const PARAMETERS = ['endpoint', 'region', 'style']

/** Amazon S3 User Guide, "General purpose bucket naming rules". */
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/

/** Keys are limited to 1024 bytes of UTF-8. The remainder leaves room for IDs and the names of probes. */
const PREFIX_MAX_BYTES = 900

/** `region`: default for a URL without one. Throws an `Error` that lists every mistake. */
export function parseS3Url(text: string, region = 'us-east-1'): S3Location {
  const url = URL.parse(text)
  if (url === null || url.protocol !== 's3:') {
    throw new Error('must look like s3://bucket or s3://bucket/prefix?endpoint=https://host&region=name')
  }
  const mistakes: string[] = []
  if (url.username || url.password) {
    mistakes.push('keys do not belong in the URL: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
  }
  if (url.port) mistakes.push('the port belongs in endpoint')
  if (url.hash) mistakes.push('# has no meaning here; write %23 for one in the prefix')
  for (const name of new Set(url.searchParams.keys())) {
    if (!PARAMETERS.includes(name)) {
      mistakes.push(`unknown parameter "${name}" (known: ${PARAMETERS.join(', ')})`)
    } else if (url.searchParams.getAll(name).length > 1) {
      mistakes.push(`${name} is given twice`)
    }
  }

  const bucket = url.hostname
  if (!BUCKET.test(bucket)) {
    mistakes.push(
      `"${bucket}" is not a bucket name: 3 to 63 of a-z, 0-9, dot and hyphen, a letter or digit at both ends`,
    )
  }
  const prefix = parsePrefix(url.pathname.slice(1), mistakes)

  const effectiveRegion = url.searchParams.get('region') ?? region
  if (!/^[a-z0-9-]+$/i.test(effectiveRegion)) mistakes.push(`"${effectiveRegion}" is not a region`)
  const endpointParameter = url.searchParams.get('endpoint')
  const endpoint =
    endpointParameter === null
      ? `https://s3.${effectiveRegion}.amazonaws.com`
      : parseEndpoint(endpointParameter, mistakes)

  const style = url.searchParams.get('style') ?? (endpointParameter === null ? 'virtual' : 'path')
  if (style !== 'path' && style !== 'virtual') {
    mistakes.push(`style must be path or virtual, not "${style}"`)
  } else if (style === 'virtual' && bucket.includes('.') && endpoint.startsWith('https:')) {
    mistakes.push('no certificate covers a bucket name with a dot before the host: use style=path')
  } else if (style === 'virtual' && /^https?:\/\/[^/]+\/./.test(endpoint)) {
    mistakes.push('an endpoint with a path needs style=path')
  }

  if (mistakes.length > 0) throw new Error(mistakes.join('; '))
  return { bucket, prefix, endpoint, region: effectiveRegion, style: style as S3Location['style'] }
}

function parsePrefix(path: string, mistakes: string[]): string {
  let prefix: string
  try {
    prefix = decodeURIComponent(path)
  } catch {
    mistakes.push('the prefix is not percent-encoded UTF-8')
    return ''
  }
  if (prefix === '') return ''
  if (!prefix.endsWith('/')) prefix += '/'
  const names = prefix.slice(0, -1).split('/')
  if (names.some((name) => name === '' || name === '.' || name === '..')) {
    mistakes.push('the prefix must not contain an empty segment, "." or ".."')
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: matches the forbidden characters
  if (/[\u0000-\u001f\u007f]/.test(prefix)) mistakes.push('the prefix has a control character in it')
  if (new TextEncoder().encode(prefix).length > PREFIX_MAX_BYTES) {
    mistakes.push(`the prefix is longer than ${PREFIX_MAX_BYTES} bytes`)
  }
  return prefix
}

function parseEndpoint(text: string, mistakes: string[]): string {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    mistakes.push(`endpoint must be an http or https address, not "${text}"`)
    return ''
  }
  if (url.username || url.password || url.search || url.hash) {
    mistakes.push('endpoint must be an address alone: no user, no query, no #')
  }
  return url.origin + url.pathname.replace(/\/+$/, '')
}

/** URL of a key, or of the bucket itself if `key` is empty. */
export function addressOf({ bucket, endpoint, style }: S3Location, key = ''): string {
  const path = key.split('/').map(encodeName).join('/')
  if (style === 'path') return `${endpoint}/${bucket}${path && `/${path}`}`
  return `${endpoint.replace('://', `://${bucket}.`)}/${path}`
}

/** Percent-encodes as in RFC 3986, which signatures require. */
export function encodeName(name: string): string {
  return encodeURIComponent(name).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
