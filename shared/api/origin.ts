/** Any web page may send requests to loopback; browsers add the page's origin, other programs send none. */
export function isOfOtherOrigin({ headers }: Pick<Request, 'headers'>): boolean {
  const origin = headers.get('origin')
  if (origin === null) return false
  const host = headers.get('host') ?? ''
  return ['http', 'https'].every((scheme) => origin !== `${scheme}://${host}`)
}
