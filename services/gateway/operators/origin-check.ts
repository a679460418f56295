import { isIP } from 'node:net'
import { isOfOtherOrigin } from '#shared/api/origin'

/** Reason for rejecting a request. */
export type Strange = 'host' | 'origin' | 'site'

/**
 * Checks whether a request to the operators' listener comes from another web page. The listener is on
 * loopback, and any page in a browser on this machine can send requests there. Three checks reject them:
 *
 * - `host`: in DNS rebinding the request carries the attacker's host name. IP addresses cannot be
 *   rebound, so they pass, as do `localhost` and the `known` names.
 * - `origin`: browsers send the page's origin with every request that writes or reads a response.
 * - `site`: for all others, such as images, browsers send whether another site initiated them. Opening
 *   the page itself by a link is allowed, because the linking site cannot read it.
 */
export function strangeIn(request: Request, known: readonly string[]): Strange | undefined {
  const { headers } = request
  const host = headers.get('host') ?? ''
  if (!isKnown(host, known)) return 'host'
  if (isOfOtherOrigin(request)) return 'origin'
  const site = headers.get('sec-fetch-site')
  if (site === null || site === 'same-origin' || site === 'none') return undefined
  return isVisit(request) ? undefined : 'site'
}

function isKnown(host: string, known: readonly string[]): boolean {
  const [, name = ''] = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.exec(host) ?? []
  const bare = name.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  return isIP(bare) !== 0 || bare === 'localhost' || known.includes(bare)
}

const isVisit = ({ method, url, headers }: Request): boolean =>
  method === 'GET' &&
  new URL(url).pathname === '/' &&
  headers.get('sec-fetch-mode') === 'navigate' &&
  headers.get('sec-fetch-dest') === 'document'

/**
 * Returns the token of a request. It is accepted only in a header, which other sites cannot make a
 * browser send, and never in a URL, which logs and `Referer` leak.
 */
export const tokenIn = ({ headers }: Request): string =>
  /^Bearer (.*)$/.exec(headers.get('authorization') ?? '')?.[1] ?? ''
