/** Which address an upload counts for. */
import ipaddr from 'ipaddr.js'
import type { ClientAddress } from '../../service/quota/quota.ts'

/** Proxies whose `X-Forwarded-For` is believed. */
export interface TrustedProxies {
  has(address: string): boolean
  covers(address: Address): boolean
}

/** `cidrs`: such as `10.0.0.0/8` or `::1/128`; a bare address is itself alone. Throws on anything else. */
export function trustedProxies(cidrs: string[]): TrustedProxies {
  const ranges = cidrs.map((cidr) => {
    const [network, bits] = cidr.includes('/') ? ipaddr.parseCIDR(cidr) : wholeAddress(ipaddr.parse(cidr))
    // As addresses are compared: IPv4-mapped IPv6 is IPv4.
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
 * The socket's peer, or behind trusted proxies the first hop from the right that is not one of them. A hop that is
 * no address ends the walk at the proxy that reported it.
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
 * Tor names the circuits of an onion service by addresses of this network (`HiddenServiceExportCircuitID haproxy`; tor(1)). A proxy in
 * front passes them on; nobody else is there.
 */
const CIRCUITS = ipaddr.parseCIDR('fc00:dead:beef:4dd3::/64')

function isCircuit(address: Address): boolean {
  return address.kind() === 'ipv6' && address.match(CIRCUITS)
}

/** What the quota counts by: an IPv4 address, or the first 64 bits of an IPv6 one. */
export function quotaAddress(address: string): string {
  return addressOf(parse(address))
}

function addressOf(address: Address | null): string {
  if (address === null) return 'unknown'
  if (address.kind() === 'ipv4') return address.toString()
  return `${address.toByteArray().slice(0, 8).join('.')}/64`
}

/** The first 24 bits of IPv4, the first 48 of IPv6. */
function networkOf(address: Address | null): string {
  if (address === null) return 'unknown'
  const [bytes, bits] = address.kind() === 'ipv4' ? [3, 24] : [6, 48]
  return `${address.toByteArray().slice(0, bytes).join('.')}/${bits}`
}

/** IPv4-mapped IPv6 becomes IPv4; ports and zones go. `null` if it is no address. */
function parse(text: string): Address | null {
  const bare = text
    .trim()
    .replace(/^\[([^\]]*)\](?::\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .replace(/%.*$/, '')
  if (!ipaddr.IPv6.isValid(bare) && !ipaddr.IPv4.isValidFourPartDecimal(bare)) return null
  return ipaddr.process(bare)
}
