import type { Field } from '#platform/config'
import { integer, text, url } from '#platform/config-fields'
import { deployedRules, fitting, publicUrl } from '#platform/deployment'

/** Beginnings of secret keys of the payment provider. Source: docs.xendit.co, "API keys". */
export const testKeyPrefix = 'xnd_development_'
export const liveKeyPrefix = 'xnd_production_'

const providerHost = 'api.xendit.co'

const accountKey = (about: string): Field<string> =>
  fitting(text({ about, secret: true }), {
    local: (key) => (key.startsWith(liveKeyPrefix) ? 'must not be a live key' : undefined),
    test: (key) => (key.startsWith(testKeyPrefix) ? undefined : `must be a test key, ${testKeyPrefix}…`),
    live: (key) => (key.startsWith(liveKeyPrefix) ? undefined : `must be a live key, ${liveKeyPrefix}…`),
  })

export const indonesianKey = accountKey('secret key of the Indonesian account')
export const malaysianKey = fitting(
  accountKey('secret key of the Malaysian account'),
  deployedRules((key, other) =>
    key === other?.('PROVIDER_ID_SECRET_KEY')
      ? 'must be of the Malaysian account, not that of the Indonesian one'
      : undefined,
  ),
)

export const providerUrl: Field<string> = fitting(publicUrl(url({ about: "the payment provider's API" })), {
  local: (value) => (value.includes(providerHost) ? 'must be the sandbox, not the real provider' : undefined),
})

/** Calls a minute that the provider allows per endpoint and account. Source: docs.xendit.co, "Rate limits". */
const callsMax = { test: 60, live: 600 }

/** Budget of calls. The default is for a live account. */
export const providerBudget = (fallback: string): Field<number> => {
  const atMost = (most: number) => (calls: number) => (calls > most ? `must be at most ${most}` : undefined)
  return fitting(
    integer({
      least: 1,
      most: 1_000_000,
      about: `maximum calls per endpoint and account; the provider allows ${callsMax.live} live, ${callsMax.test} in test mode`,
      fallback,
    }),
    { test: atMost(callsMax.test), live: atMost(callsMax.live) },
  )
}
