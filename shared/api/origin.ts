/**
 * Whether a page of another origin asks. Every page in a browser may send requests to loopback, and
 * browsers name the page's origin whenever it sends something or reads an answer; programs name none.
 */
export function isOfOtherOrigin({ headers }: Pick<Request, 'headers'>): boolean {
  const origin = headers.get('origin')
  if (origin === null) return false
  const host = headers.get('host') ?? ''
  return ['http', 'https'].every((scheme) => origin !== `${scheme}://${host}`)
}
