import { LRUCache } from 'lru-cache'
import type { Database } from '#platform/db/open'
import { acceptedTermsHeader } from '#shared/api/terms'
import { refusals } from '#shared/declared-refusals'
import type { Config } from '../config'
import { inTime } from '../http/deadline'
import { Refused } from '../http/failure'
import { hasAccepted, insertAcceptance } from './terms.store'

export type Terms = {
  /** Records the version that a signed request accepts, if it is the current one. Queries the database once per wallet and process. */
  readonly accept: (wallet: `0x${string}`, request: Request) => Promise<void>
  readonly isAccepted: (wallet: `0x${string}`) => Promise<boolean>
  /** Returns the refusal of a wallet that has not accepted the current terms, with their version and page. */
  readonly refusal: () => Refused
}

/** Number of wallets that are remembered as having accepted. */
const knownMax = 100_000

/** Opens the terms. Without a version there are none to accept. */
export function openTerms(
  database: Database,
  { termsVersion: version, termsUrl: url }: Pick<Config, 'termsVersion' | 'termsUrl'>,
): Terms {
  const refusal = () => notAccepted(version, url)
  if (version === 'none') return { accept: async () => {}, isAccepted: async () => true, refusal }
  const known = new LRUCache<string, true>({ max: knownMax })
  return {
    async accept(wallet, request) {
      if (request.headers.get(acceptedTermsHeader) !== version || known.has(wallet)) return
      await inTime(
        database.run((db) => insertAcceptance(db, { wallet, version })),
        'the accepted terms',
      )
      known.set(wallet, true)
    },
    async isAccepted(wallet) {
      if (known.has(wallet)) return true
      const asked = database.read((db) => hasAccepted(db, { wallet, version }))
      const isAccepted = await inTime(asked, 'the accepted terms')
      if (isAccepted) known.set(wallet, true)
      return isAccepted
    },
    refusal,
  }
}

const notAccepted = (version: string, url: string) =>
  new Refused(
    refusals.terms_not_accepted.status,
    [{ code: 'terms_not_accepted' }, { code: 'terms_version', version, url }],
    undefined,
    'terms_not_accepted',
  )
