import { durationMs, integer, text, url } from '#shared/config-fields'
import { commonFields, databaseFields } from '#shared/service'

/** Everything this service is told. */
export const fields = {
  ...commonFields,
  ...databaseFields,
  PROVIDER_URL: url({ about: "the payment provider's API, e.g. https://api.xendit.co" }),
  PROVIDER_ID_SECRET_KEY: text({ about: 'secret key of the Indonesian account', secret: true }),
  PROVIDER_MY_SECRET_KEY: text({ about: 'secret key of the Malaysian account', secret: true }),
  PROVIDER_REQUESTS_PER_MINUTE: integer({
    about: 'calls per endpoint and account; the provider allows 600 live, 60 in test mode',
    fallback: '600',
  }),
  APP_URL: url({
    about: 'where the checkout sends the user back to; HTTPS outside of a local stack',
  }),
  CHECKOUT_TTL_MS: durationMs({
    about: 'how long a checkout may be paid; the provider wants 10 minutes at least',
    fallback: '1800000',
  }),
  SWEEP_AFTER_MS: durationMs({
    about: 'what is quiet for so long is asked for at its authority',
    fallback: '20000',
  }),
  SWEEP_EVERY_MS: durationMs({ about: 'rest between two rounds of asking', fallback: '5000' }),
} as const
