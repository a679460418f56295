import { isIP } from 'node:net'
import { isOfOtherOrigin } from '#shared/api/origin'

type Strange = 'host' | 'origin' | 'site'

/**
 * Rejects requests that other web pages in a browser on this machine send to the listener.
 *
 * - `host`: DNS rebinding carries the attacker's host name; IP addresses cannot be rebound.
 * - `origin`: browsers send it with every request that writes or reads a response.
 * - `site`: sent with all others, such as images. A link to the page passes: its site cannot read it.
 */
export function checkOrigin(request: Request, known: readonly string[]): Strange | undefined {
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
 * Returns the token of a request. It is in a header, which other sites cannot make a browser send; URLs leak
 * through logs and `Referer`.
 */
export const tokenIn = ({ headers }: Request): string =>
  /^Bearer (.*)$/.exec(headers.get('authorization') ?? '')?.[1] ?? ''
