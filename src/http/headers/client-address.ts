/** Determines the client address that an upload is counted against. */
import ipaddr from 'ipaddr.js'
import type { ClientAddress } from '../../service/quota/quota.ts'

/** Proxies whose `X-Forwarded-For` is trusted. */
export interface TrustedProxies {
  has(address: string): boolean
  covers(address: Address): boolean
}

/** `cidrs`: ranges such as `10.0.0.0/8` or `::1/128`, or single addresses. Throws on anything else. */
export function trustedProxies(cidrs: string[]): TrustedProxies {
  const ranges = cidrs.map((cidr) => {
    const [network, bits] = cidr.includes('/') ? ipaddr.parseCIDR(cidr) : wholeAddress(ipaddr.parse(cidr))
    // `parse` turns IPv4-mapped IPv6 addresses into IPv4, so ranges need the same.
    return network instanceof ipaddr.IPv6 && network.isIPv4MappedAddress() && bits >= 96
      ? { network: network.toIPv4Address(), bits: bits - 96 }
      : { network, bits }
  })
  const covers = (address: Address) =>
    ranges.some(({ network, bits }) => network.kind() === address.kind() && address.match(network, bits))
  return {
    covers,
    has(text) {
      const address = parse(text)
      return address !== null && covers(address)
    },
  }
}

function wholeAddress(address: Address): [Address, number] {
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

type Address = ReturnType<typeof ipaddr.parse>

/**
 * The socket's peer or, behind trusted proxies, the rightmost hop that is not a trusted proxy. A hop that is not a valid
 * address stops the walk at the proxy that reported it.
 */
export function clientAddress(
  peer: string,
  forwardedFor: string | undefined,
  trusted: TrustedProxies,
): ClientAddress {
  const hops = forwardedFor?.split(',') ?? []
  let client = parse(peer)
  while (hops.length > 0 && client !== null && trusted.covers(client)) {
    const hop = parse(hops.pop()!)
    if (hop === null) break
    client = hop
  }
  if (client !== null && isCircuit(client)) {
    const circuit = `circuit ${client.toByteArray().slice(8).join('.')}`
    return { address: circuit, network: circuit, isCircuit: true }
  }
  return { address: addressOf(client), network: networkOf(client) }
}

/**
 * Tor identifies the circuits of an onion service by addresses in this range (`HiddenServiceExportCircuitID haproxy`; tor(1)),
 * and a proxy in front forwards them. No real client has such an address.
 */
const CIRCUITS = ipaddr.parseCIDR('fc00:dead:beef:4dd3::/64')

function isCircuit(address: Address): boolean {
  return address.kind() === 'ipv6' && address.match(CIRCUITS)
}

/** The quota's unit for an address: the IPv4 address, or the /64 of an IPv6 address. */
export function quotaAddress(address: string): string {
  return addressOf(parse(address))
}

function addressOf(address: Address | null): string {
  if (address === null) return 'unknown'
  if (address.kind() === 'ipv4') return address.toString()
  return `${address.toByteArray().slice(0, 8).join('.')}/64`
}

/** The /24 of an IPv4 address, or the /48 of an IPv6 address. */
function networkOf(address: Address | null): string {
  if (address === null) return 'unknown'
  const [bytes, bits] = address.kind() === 'ipv4' ? [3, 24] : [6, 48]
  return `${address.toByteArray().slice(0, bytes).join('.')}/${bits}`
}

/** Parses an address; strips ports and zones and converts IPv4-mapped IPv6 to IPv4. `null` when invalid. */
function parse(text: string): Address | null {
  const bare = text
    .trim()
    .replace(/^\[([^\]]*)\](?::\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .replace(/%.*$/, '')
  if (!ipaddr.IPv6.isValid(bare) && !ipaddr.IPv4.isValidFourPartDecimal(bare)) return null
  return ipaddr.process(bare)
}
