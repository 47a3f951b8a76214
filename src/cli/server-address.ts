import { UsageError } from './exit.ts'

/** A host with a dot, a port, or the name of this machine: one word alone is more likely a mistake. */
const BARE_HOST = /^(?:localhost|[\w-]+(?:\.[\w-]+)+|[\w.-]+(?=:\d)|\[[0-9a-f:.]+\])(?::\d{1,5})?(?:\/\S*)?$/i

/** Addresses without TLS: this machine (RFC 6761, section 6.3) and private networks (RFC 1918). */
const LOCAL =
  /^(?:(?:[\w-]+\.)*localhost|127\.[\d.]+|10\.[\d.]+|192\.168\.[\d.]+|172\.(?:1[6-9]|2\d|3[01])\.[\d.]+|\[::1\])(?=[:/]|$)/i

/** The URL that a person means by what they typed: `localhost:3000`, `pics.example`, or a URL. Throws a `UsageError`. */
export function readServerAddress(text: string): string {
  const word = text.trim()
  const url = BARE_HOST.test(word) ? `${LOCAL.test(word) ? 'http' : 'https'}://${word}` : word
  if (/^https?:\/\/[^\s/]/i.test(url) && URL.canParse(url)) return url
  throw new UsageError(`${text} is not the address of a service. Write it like https://pics.example`)
}
