/**
 * Returns true for a request of a web page from another origin. Any page may send requests to loopback; browsers add
 * the page's origin, and other programs send none.
 */
export function isOfOtherOrigin({ headers }: Pick<Request, 'headers'>): boolean {
  const origin = headers.get('origin')
  if (origin === null) return false
  const host = headers.get('host') ?? ''
  return ['http', 'https'].every((scheme) => origin !== `${scheme}://${host}`)
}
