/** Which address an upload counts for. */
import ipaddr from 'ipaddr.js'

/** Proxies whose `X-Forwarded-For` is believed. */
export interface TrustedProxies {
  has(address: string): boolean
}

/** `cidrs`: such as `10.0.0.0/8` or `::1/128`; a bare address is itself alone. Throws on anything else. */
export function trustedProxies(cidrs: string[]): TrustedProxies {
  const ranges = cidrs.map((cidr) => {
    const [network, bits] = cidr.includes('/') ? ipaddr.parseCIDR(cidr) : wholeAddress(ipaddr.parse(cidr))
    return { network, bits }
  })
  return {
    has(address) {
      const parsed = parse(address)
      return (
        parsed !== null &&
        ranges.some(({ network, bits }) => network.kind() === parsed.kind() && parsed.match(network, bits))
      )
    },
  }
}

function wholeAddress(address: Address): [Address, number] {
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

type Address = ReturnType<typeof ipaddr.parse>

/**
 * The socket's peer, or behind trusted proxies the first hop from the right that is not one of them. A hop that is
 * no address ends the walk at the proxy that reported it.
 */
export function clientAddress(
  peer: string,
  forwardedFor: string | undefined,
  trusted: TrustedProxies,
): string {
  const hops = forwardedFor?.split(',') ?? []
  let client = peer
  while (hops.length > 0 && trusted.has(client)) {
    const hop = parse(hops.pop()!)
    if (hop === null) break
    client = hop.toString()
  }
  return client
}

/** What the quota counts by: an IPv4 address, or the first 64 bits of an IPv6 one. */
export function quotaAddress(address: string): string {
  const parsed = parse(address)
  if (parsed === null) return 'unknown'
  if (parsed.kind() === 'ipv4') return parsed.toString()
  return `${parsed.toByteArray().slice(0, 8).join('.')}/64`
}

/** The network that an address is in: the first 24 bits of IPv4, the first 48 of IPv6. */
export function networkAddress(address: string): string {
  const parsed = parse(address)
  if (parsed === null) return 'unknown'
  const [bytes, bits] = parsed.kind() === 'ipv4' ? [3, 24] : [6, 48]
  return `${parsed.toByteArray().slice(0, bytes).join('.')}/${bits}`
}

/** The latest addresses: of each request its own is asked about four times. */
const known = new Map<string, Address | null>()
const MOST_KNOWN = 64
/** Longer texts are no addresses, and may be parts of a header that would be kept with them. */
const LONGEST_KNOWN = 64

function parse(text: string): Address | null {
  let address = known.get(text)
  if (address !== undefined) return address
  address = parseAnew(text)
  if (text.length > LONGEST_KNOWN) return address
  if (known.size >= MOST_KNOWN) known.clear()
  known.set(text, address)
  return address
}

/** IPv4-mapped IPv6 becomes IPv4; ports and zones go. `null` if it is no address. */
function parseAnew(text: string): Address | null {
  const bare = text
    .trim()
    .replace(/^\[([^\]]*)\](?::\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .replace(/%.*$/, '')
  if (!ipaddr.IPv6.isValid(bare) && !ipaddr.IPv4.isValidFourPartDecimal(bare)) return null
  return ipaddr.process(bare)
}
