/**
 * Messages of providers that limit the rate without HTTP 429. -32005 is EIP-1474's "limit exceeded", which some return
 * for a wide log range too; -32007 is QuickNode's ("50/second request limit reached").
 */
const words = /rate limit|too many requests|request limit reached|requests? per second/i
const rangeWords = /range|blocks|logs|results|size/i

/** Returns true for a rate limit, which means that nothing was done. */
export const isTooOften = (code: number | undefined, message: string): boolean =>
  code === 429 || code === -32007 || words.test(message) || (code === -32005 && !rangeWords.test(message))
