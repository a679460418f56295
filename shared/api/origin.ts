/**
 * Returns whether the request comes from a web page of another origin. Any page in a browser may
 * send requests to loopback. Browsers send the page's origin with such a request; other programs
 * send none.
 */
export function isOfOtherOrigin({ headers }: Pick<Request, 'headers'>): boolean {
  const origin = headers.get('origin')
  if (origin === null) return false
  const host = headers.get('host') ?? ''
  return ['http', 'https'].every((scheme) => origin !== `${scheme}://${host}`)
}
