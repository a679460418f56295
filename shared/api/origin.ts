/**
 * Any web page may send requests to loopback. Browsers add the page's origin to them; other programs send
 * none.
 */
export function isOfOtherOrigin({ headers }: Pick<Request, 'headers'>): boolean {
  const origin = headers.get('origin')
  if (origin === null) return false
  const host = headers.get('host') ?? ''
  return ['http', 'https'].every((scheme) => origin !== `${scheme}://${host}`)
}
