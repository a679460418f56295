import { createHash, timingSafeEqual } from 'node:crypto'
import { text } from '#platform/config-fields'

const tokenMin = 20

export const consoleToken = {
  ...text({
    about: `access token of the console, at least ${tokenMin} characters; empty: no console`,
    fallback: '',
    secret: true,
  }),
  parse: (raw: string) => {
    if (raw !== '' && !new RegExp(`^[A-Za-z0-9_-]{${tokenMin},}$`).test(raw))
      throw new Error(`must have at least ${tokenMin} characters: letters, digits, - and _`)
    return raw
  },
}

/** Returns a comparison with a token, which takes constant time. An empty `token` matches nothing. */
export function tokenMatcher(token: string): (given: string) => boolean {
  const digest = (words: string) => createHash('sha256').update(words).digest()
  const right = digest(token)
  return (given) => token !== '' && timingSafeEqual(digest(given), right)
}
