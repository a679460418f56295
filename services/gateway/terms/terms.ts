import { LRUCache } from 'lru-cache'
import type { Database } from '#platform/db/open'
import { acceptedTermsHeader } from '#shared/api/terms'
import { refusals } from '#shared/refusals'
import type { Config } from '../config'
import { inTime } from '../http/deadline'
import { Refused } from '../http/failure'
import { hasAccepted, insertAcceptance } from './terms.store'

export type Terms = {
  /** Records the version that a signed request accepts, if it is the current one. Queries the database once per wallet and process. */
  readonly accept: (wallet: `0x${string}`, request: Request) => Promise<void>
  /**
   * Refuses a wallet that has not accepted the current terms. Verbs that repay a debt do not ask: it must always be payable.
   */
  readonly demand: (wallet: `0x${string}`) => Promise<void>
}

/** Number of wallets that are remembered as having accepted. */
const knownMax = 100_000

/** Opens the terms. Without a version there are none to accept. */
export function openTerms(
  database: Database,
  { termsVersion: version, termsUrl: url }: Pick<Config, 'termsVersion' | 'termsUrl'>,
): Terms {
  if (version === 'none') return { accept: async () => {}, demand: async () => {} }
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
    async demand(wallet) {
      if (known.has(wallet)) return
      const asked = database.read((db) => hasAccepted(db, { wallet, version }))
      if (!(await inTime(asked, 'the accepted terms'))) throw notAccepted(version, url)
      known.set(wallet, true)
    },
  }
}

const notAccepted = (version: string, url: string) =>
  new Refused(
    refusals.terms_not_accepted.status,
    [{ code: 'terms_not_accepted' }, { code: 'terms_version', version, url }],
    undefined,
    'terms_not_accepted',
  )
