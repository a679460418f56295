import { randomUUID } from 'node:crypto'
import { BlockList, isIP } from 'node:net'
import { type Origin, requestIdOf } from '#shared/tracing/origin'

/** Who is asking, as far as the edge knows; `route` is set by the route that takes the request. */
export type Caller = {
  readonly address: string
  route?: string
  /** Gives back what the request took for as long as it lasts. */
  leave?: () => void
}

const callers = new WeakMap<Request, Caller>()

/** Remembers the caller for as long as the request lives. */
export const introduce = (request: Request, caller: Caller) => void callers.set(request, caller)

/** Who sent this request. */
export const callerOf = (request: Request): Caller => callers.get(request) ?? { address: 'unknown' }

/** Whether an address is one of our own proxies. */
export type IsProxy = (address: string) => boolean

/** `proxies` are addresses and networks as the configuration names them: `10.0.0.1`, `fd00::/8`. */
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
 * The address that limits count by: the socket's, and behind our own proxies the one that the
 * outermost of them saw. Each proxy appends whom it heard from, so X-Forwarded-For is read from its
 * right for as long as a proxy speaks; what is left of that is the caller's own text.
 */
export function addressOf(socket: string, forwardedFor: string | null, isProxy: IsProxy): string {
  const seen = forwardedFor?.split(',') ?? []
  let address = unmapped(socket)
  while (isProxy(address)) {
    const before = unmapped(seen.pop()?.trim() ?? '')
    if (isIP(before) === 0) break
    address = before
  }
  return normalised(address)
}

const unmapped = (address: string): string =>
  /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address

/** One household or phone has a whole IPv6 /64: it counts as one. */
function normalised(address: string): string {
  if (!address.includes(':')) return address.slice(0, 45)
  const [head = ''] = address.toLowerCase().split('::')
  return `${head.split(':').slice(0, 4).join(':')}::/64`
}

const sane = /^[A-Za-z0-9._:-]{8,64}$/

/**
 * The caller's own id when it is sane (it goes into logs and message headers), else one after the
 * caller's span, else a new one.
 */
export function requestIdFrom(header: string | null, span?: Origin): string {
  if (header !== null && sane.test(header)) return header
  return span ? requestIdOf(span) : randomUUID()
}
