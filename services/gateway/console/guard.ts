import { createHash, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import { isOfOtherOrigin } from '#shared/api/origin'

/** Why a request is not answered at all. */
export type Strange = 'host' | 'origin' | 'site'

/**
 * Whether a request to the listener of operators comes from where it should. It listens on loopback,
 * where every page of a browser on this machine may send requests. Three things give such a page away:
 *
 * - `host`: its own name leads to this machine (DNS rebinding), so the request names that name. An
 *   address can lead nowhere else, so addresses pass, `localhost`, and the names that are `known`.
 * - `origin`: browsers name the page's origin whenever it sends something or reads an answer.
 * - `site`: they say of any other request, as of an image, that another site asked for it. Only
 *   opening the page itself by a link from elsewhere is no harm: nothing of it can be read there.
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
 * Whether a request carries the token, compared in constant time. It comes in a header that no other
 * site can make a browser send, and never in an address, which logs and `Referer` repeat.
 */
export function tokenChecker(token: string): (request: Request) => boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  const right = digest(`Bearer ${token}`)
  return ({ headers }) => timingSafeEqual(digest(headers.get('authorization') ?? ''), right)
}
