import type { ConfigOf } from '#shared/config'
import {
  durationMs,
  integer,
  list,
  listOrNone,
  networksOrNone,
  oneOf,
  text,
  url,
} from '#shared/config-fields'
import { commonFields, databaseFields } from '#shared/service'

/** Minimum length of a token that cannot be guessed. */
const tokenMin = 20

/** Environment variables of the gateway. */
export const fields = {
  ...commonFields,
  ...databaseFields,
  HTTP_HOST: text({ about: 'public listen address', fallback: '127.0.0.1' }),
  HTTP_PORT: integer({ about: 'public listen port', fallback: '3000' }),
  OPS_HOST: text({ about: "operators' listen address", fallback: '127.0.0.1' }),
  OPS_PORT: integer({
    about:
      "operators' listen port: console, `/metrics` and detailed `/ready`; must not be reachable from outside",
    fallback: '3001',
  }),
  OPS_HOSTS: listOrNone({
    about:
      "host names accepted on the operators' port in addition to IP addresses and localhost, comma-separated, or none",
    fallback: 'none',
  }),
  CONSOLE_TOKEN: {
    ...text({
      about: `access token of the console, at least ${tokenMin} characters; if empty, the console is disabled`,
      fallback: '',
      secret: true,
    }),
    parse: (raw: string) => {
      if (raw !== '' && !new RegExp(`^[A-Za-z0-9_-]{${tokenMin},}$`).test(raw))
        throw new Error(`must have at least ${tokenMin} characters: letters, digits, - and _`)
      return raw
    },
  },
  NATS_PASSWORD_CONSOLE: text({
    about: 'password of the NATS user console; if empty, the console shows no live messages',
    fallback: '',
    secret: true,
  }),
  CONSOLE_DATABASE_URL: text({
    about:
      'Postgres URL for the console, with the read-only role auditor; if empty, it shows no items',
    fallback: '',
    secret: true,
  }),
  CONSOLE_DATABASE_PASSWORD: text({
    about: 'password of the console database role, if the URL has none',
    fallback: '',
    secret: true,
  }),
  SANDBOX_CONTROLS_URL: {
    ...text({
      about:
        'URL of the sandbox controls of a local stack; if empty, as in every deployment, the console ' +
        'has no sandbox',
      fallback: '',
    }),
    type: 'URL',
    parse: (raw: string) => {
      if (raw !== '' && !/^http:\/\/127\.0\.0\.1:\d{1,5}$/.test(raw))
        throw new Error('must be http://127.0.0.1:<port>: the sandbox works only on one machine')
      return raw
    },
  },
  SANDBOX_CONTROLS_TOKEN: text({
    about: 'token with which the gateway authenticates to the sandbox controls',
    fallback: '',
    secret: true,
  }),
  LEAVE_MS: durationMs({
    about:
      'drain time after a stop signal: it still serves while `/ready` returns 503; must exceed the ' +
      "load balancer's detection time",
    fallback: '3000',
  }),
  PUBLIC_URL: url({ about: 'public base URL as the app sees it' }),
  PAYMENTS_CALLBACK_TOKENS_ID: list({
    about: 'x-callback-token of the Indonesian account; two, comma-separated, during a rotation',
    secret: true,
  }),
  PAYMENTS_CALLBACK_TOKENS_MY: list({
    about: 'x-callback-token of the Malaysian account; two, comma-separated, during a rotation',
    secret: true,
  }),
  IDENTITY_PROVIDER: oneOf(['sumsub', 'persona'], {
    about: 'identity provider',
    fallback: 'sumsub',
  }),
  IDENTITY_WEBHOOK_SECRETS: list({
    about: "secret of the identity provider's webhook; two, comma-separated, during a rotation",
    secret: true,
  }),
  IDENTITY_LEVEL: text({
    about: 'required verification level (Sumsub) or inquiry template id (Persona)',
    fallback: 'basic-kyc-level',
  }),
  IDENTITY_ENVIRONMENT: oneOf(['sandbox', 'production'], {
    about: 'environment whose approvals count; those of the other one are ignored',
    fallback: 'sandbox',
  }),
  IDENTITY_API_URL: url({ about: "base URL of the identity provider's API" }),
  IDENTITY_APP_TOKEN: text({
    about: 'Sumsub app token; Persona has none',
    fallback: 'none',
    secret: true,
  }),
  IDENTITY_SECRET_KEY: text({ about: 'Sumsub secret key, or Persona API key', secret: true }),
  IDENTITY_RECHECK_OPEN_MS: durationMs({
    about: 'interval between rechecks of a user with a link and no final verdict',
    fallback: '3600000',
  }),
  IDENTITY_RECHECK_OPEN_FOR_MS: durationMs({
    about: 'how long after a link or verdict that interval applies',
    fallback: '259200000',
  }),
  IDENTITY_RECHECK_MS: durationMs({
    about: 'interval between later rechecks, and permanently for verified users',
    fallback: '86400000',
  }),
  IDENTITY_RECHECK_FOR_MS: durationMs({
    about: 'how long after a link or verdict a user who is not verified is rechecked',
    fallback: '2592000000',
  }),
  IDENTITY_RECHECKS_PER_MINUTE: integer({
    about:
      'maximum rechecks per minute of all instances; Persona allows 300 calls per minute, Sumsub 3600',
    fallback: '120',
  }),
  RATE_LIMIT_PUBLIC_PER_MINUTE: integer({
    about: 'maximum public requests and new sign-ins per address and minute',
    fallback: '120',
  }),
  RATE_LIMIT_SIGNED_PER_MINUTE: integer({
    about: 'maximum signed requests per wallet and minute',
    fallback: '240',
  }),
  RATE_LIMIT_SIGNED_PER_ADDRESS_PER_MINUTE: integer({
    about:
      'maximum signed requests per address and minute, all wallets together; checked before the signature',
    fallback: '1200',
  }),
  RATE_LIMIT_DELIVERIES_PER_MINUTE: integer({
    about:
      "maximum providers' webhooks per address and minute; after an outage thousands arrive at once",
    fallback: '12000',
  }),
  PUBLIC_WAITING_MAX: integer({
    about:
      'maximum concurrent public requests, and separately sign-ins of contract wallets; beyond it they get a 503',
    fallback: '200',
  }),
  CORS_ORIGINS: listOrNone({
    about: 'origins of the app allowed by CORS, comma-separated, or none',
    fallback: 'none',
  }),
  TRUSTED_PROXIES: networksOrNone({
    about:
      'proxies whose X-Forwarded-For is trusted: addresses or networks such as 10.0.0.0/8, or none',
    fallback: 'none',
  }),
  STREAMS_EVERY_MS: durationMs({
    about: 'interval between checks of stream usage',
    fallback: '30000',
  }),
  SWEEP_AFTER_MS: durationMs({
    about: 'how long an ordered flag or drip may stay unanswered before it is checked on the chain',
    fallback: '30000',
  }),
  SWEEP_EVERY_MS: durationMs({
    about: 'interval between sweeps of unanswered orders, and between rounds of identity rechecks',
    fallback: '5000',
  }),
}

/** Configuration with camelCase names. */
export type Config = ConfigOf<typeof fields>
