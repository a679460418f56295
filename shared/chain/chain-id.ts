import type { Field } from '#platform/config'
import { address, genesisHash, integer } from '#platform/config-fields'
import { fitting, type Rule } from '#platform/deployment'

/** Chain ids of Monad, and AUSD on both chains. Source: docs.monad.xyz, and monad-crypto/token-list of 6 Feb 2026. */
export const testChainId = 10143
export const liveChainId = 143
export const testAusd: `0x${string}` = '0xa9012a055bd4e0eDfF8Ce09f960291C09D5322dC'
export const liveAusd: `0x${string}` = '0x00000000eFE302BEAA2b3e6e1b18d08D69a9012a'

/** Shortest hold, in seconds, with real money: cards are refunded and disputed for days, and only a hold takes AUSD back. */
export const liveHoldSecondsMin = 86_400

export const chainIdField: Field<number> = fitting(
  integer({ about: 'chain id that every endpoint must report; 143 is the live chain', fallback: String(testChainId) }),
  {
    local: (id) => (id === liveChainId ? `must not be ${liveChainId}, the live chain` : undefined),
    test: (id) => (id === testChainId ? undefined : `must be ${testChainId}, the test chain`),
    live: (id) => (id === liveChainId ? undefined : `must be ${liveChainId}, the live chain`),
  },
)

export const genesisHashField = fitting(genesisHash, {
  live: (hash) => (hash === 'unchecked' ? 'must be the hash of block 0' : undefined),
})

const isSame = (left: string, right: string) => left.toLowerCase() === right.toLowerCase()
const notLive: Rule<string> = (ausd) => (isSame(ausd, liveAusd) ? 'must not be the AUSD of the live chain' : undefined)

/** Rules of the token's address. A test chain may have a stand-in; a value that is no address is no token of the live chain. */
export const ausdRules = {
  local: notLive,
  test: notLive,
  live: (ausd: string) => (isSame(ausd, liveAusd) ? undefined : `must be ${liveAusd}, AUSD of the live chain`),
} as const

export const ausdAddress: Field<`0x${string}`> = fitting(
  address({ about: 'AUSD token; deploy: deploy a stand-in' }),
  ausdRules,
)
