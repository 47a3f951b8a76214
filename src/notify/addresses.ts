/** The addresses that `NOTIFY` names. */

/** `ways`: by scheme. `more`: what else to say of them. Throws an `Error` that says what is wrong, without what is secret in it. */
export function notifiersAt<N>(addresses: string[], ways: Record<string, (url: URL) => N>, more = ''): N[] {
  return addresses.map((text) => {
    const url = URL.canParse(text) ? new URL(text) : null
    const open = url === null || url.hostname === '' ? undefined : ways[url.protocol]
    if (open === undefined) {
      throw new Error(`NOTIFY: an address begins with ${Object.keys(ways).join('//, ')}// and a host${more}`)
    }
    return open(url!)
  })
}

/** A part of an address that may be secret, without its percent-encoding. Throws an `Error` that does not repeat it. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new Error('NOTIFY: write %25 for a % in a password or a secret')
  }
}
