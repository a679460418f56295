import { randomUUID } from 'node:crypto'
import { BlockList, isIP } from 'node:net'
import { type Origin, requestIdOf } from '#platform/tracing/origin'

/** Caller of a request. `route` is set once a route matches. */
export type Caller = {
  readonly address: string
  /** Normalized path; empty if the request has no valid target. */
  readonly path: string
  route?: string
  /** Releases the request's slot. */
  leave?: () => void
}

const callers = new WeakMap<Request, Caller>()

export const introduce = (request: Request, caller: Caller) => void callers.set(request, caller)

export const callerOf = (request: Request): Caller => callers.get(request) ?? { address: 'unknown', path: '' }

type IsProxy = (address: string) => boolean

/** Parses addresses and networks of proxies, such as `fd00::/8`. */
export function proxiesOf(proxies: readonly string[]): IsProxy {
  const known = new BlockList()
  for (const proxy of proxies) {
    const [network = '', bits] = proxy.split('/')
    const family = familyOf(network)
    known.addSubnet(network, bits ? Number(bits) : family === 'ipv6' ? 128 : 32, family)
  }
  return (address) => isIP(address) !== 0 && known.check(address, familyOf(address))
}

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/**
 * Returns the caller's address for rate limits. Each proxy appends its client, so X-Forwarded-For is read
 * from the right while the address is our proxy; the caller may have written the rest.
 */
export function addressOf(socket: string, forwardedFor: string | null, isProxy: IsProxy): string {
  const seen = forwardedFor?.split(',') ?? []
  let address = unmapped(socket)
  while (isProxy(address)) {
    const before = unmapped(withoutPort(seen.pop()?.trim() ?? ''))
    if (isIP(before) === 0) break
    address = before
  }
  return normalised(address)
}

/** Returns an address without the port that some proxies append, as those of Azure do: `192.0.2.1:49152`, `[2001:db8::1]:49152`. */
const withoutPort = (text: string): string => {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/.exec(text) ?? []
  return bracketed ?? plain ?? text
}

/** Returns IPv4 for every spelling of an IPv4-mapped IPv6 address. */
function unmapped(address: string): string {
  if (isIP(address) !== 6) return address
  const groups = groupsOf(address)
  if (groups.findIndex((group) => group !== 0) !== 5 || groups[5] !== 0xffff) return address
  return ipv4At(groups)
}

/** Returns the IPv4 address in the last 32 bits of an IPv6 address. */
const ipv4At = (groups: readonly number[]): string =>
  groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.')

/** First groups of the addresses under which a network without IPv4 sees all clients with IPv4: 64:ff9b::/96 (RFC 6052). */
const translated = [0x64, 0xff9b, 0, 0, 0, 0].join()

/** Returns the /64 of an IPv6 address, because one household or phone shares it. */
function normalised(address: string): string {
  if (isIP(address) !== 6) return address.slice(0, 45)
  const groups = groupsOf(address)
  if (groups.slice(0, 6).join() === translated) return ipv4At(groups)
  const network = groups.slice(0, 4)
  return `${network.map((group) => group.toString(16)).join(':')}::/64`
}

function groupsOf(address: string): number[] {
  const [head = '', tail = ''] = address.replace(/%.*/, '').split('::')
  const [before, after] = [partOf(head), partOf(tail)]
  const zeros = Array<number>(Math.max(0, 8 - before.length - after.length)).fill(0)
  return [...before, ...zeros, ...after]
}

/** Returns the groups of an IPv6 address; an IPv4 address at its end counts as two groups. */
const partOf = (text: string): number[] =>
  text === '' ? [] : text.split(':').flatMap((group) => (isIP(group) ? pairOf(group) : [Number.parseInt(group, 16)]))

function pairOf(address: string): number[] {
  const [first = 0, second = 0, third = 0, fourth = 0] = address.split('.').map(Number)
  return [first * 256 + second, third * 256 + fourth]
}

const sane = /^[A-Za-z0-9._:-]{8,64}$/

/**
 * Returns the caller's request id if it is safe for logs and headers, otherwise that of its span, otherwise a
 * new one.
 */
export function requestIdFrom(header: string | null, span?: Origin): string {
  if (header !== null && sane.test(header)) return header
  return span ? requestIdOf(span) : randomUUID()
}
