/** Parses the URLs in `NOTIFY`. */

/** `factories`: by URL scheme. `hint`: appended to the error message. Throws an `Error` that does not reveal secrets. */
export function notifiersAt<N>(
  addresses: string[],
  factories: Record<string, (url: URL) => N>,
  hint = '',
): N[] {
  return addresses.map((text) => {
    const url = URL.canParse(text) ? new URL(text) : null
    const create = url === null || url.hostname === '' ? undefined : factories[url.protocol]
    if (create === undefined) {
      const schemes = Object.keys(factories).join('//, ')
      throw new Error(`NOTIFY: an address must begin with one of ${schemes}// and a host${hint}`)
    }
    return create(url!)
  })
}

/** Percent-decodes part of a URL that may be secret. Throws an `Error` that does not reveal it. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new Error('NOTIFY: a % in a password or secret must be encoded as %25')
  }
}
