import { randomUUID } from 'node:crypto'

/** Who is asking, as far as the edge knows; `route` is set by the route that takes the request. */
export type Caller = { readonly address: string; route?: string }

const callers = new WeakMap<Request, Caller>()

/** Remembers the caller for as long as the request lives. */
export const introduce = (request: Request, caller: Caller) => void callers.set(request, caller)

/** Who sent this request. */
export const callerOf = (request: Request): Caller => callers.get(request) ?? { address: 'unknown' }

/**
 * The address that limits count by: the socket's, or what the outermost trusted proxy saw. The left
 * of X-Forwarded-For is the caller's own text and is never believed.
 */
export function addressOf(socket: string, forwardedFor: string | null, hops: number): string {
  const seen = forwardedFor?.split(',').map((part) => part.trim()) ?? []
  const trusted = hops > 0 ? seen[seen.length - hops] : undefined
  return normalised(trusted || socket)
}

/** One household or phone has a whole IPv6 /64: it counts as one. */
function normalised(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped) return mapped[1]!
  if (!address.includes(':')) return address.slice(0, 45)
  const [head = ''] = address.toLowerCase().split('::')
  return `${head.split(':').slice(0, 4).join(':')}::/64`
}

const sane = /^[A-Za-z0-9._:-]{8,64}$/

/** The caller's own id when it is sane (it goes into logs and message headers), else a new one. */
export const requestIdFrom = (header: string | null): string =>
  header !== null && sane.test(header) ? header : randomUUID()
