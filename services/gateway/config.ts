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

/** Nobody guesses so many. */
const tokenMin = 20

/** What the gateway is told; the table in README.md is the same list. */
export const fields = {
  ...commonFields,
  ...databaseFields,
  HTTP_HOST: text({ about: 'address to listen on', fallback: '127.0.0.1' }),
  HTTP_PORT: integer({ about: 'port to listen on', fallback: '3000' }),
  OPS_HOST: text({ about: 'address that operators reach it on', fallback: '127.0.0.1' }),
  OPS_PORT: integer({
    about:
      'port of the console, of `/metrics` and of the details of `/ready`; never to be published',
    fallback: '3001',
  }),
  OPS_HOSTS: listOrNone({
    about:
      'names that operators may reach it by, comma-separated, besides addresses and localhost; or none',
    fallback: 'none',
  }),
  CONSOLE_TOKEN: {
    ...text({
      about: `whoever has it sees what the console shows; ${tokenMin} characters at least, empty: it is closed`,
      fallback: '',
      secret: true,
    }),
    parse: (raw: string) => {
      if (raw !== '' && !new RegExp(`^[A-Za-z0-9_-]{${tokenMin},}$`).test(raw))
        throw new Error(`must have ${tokenMin} letters and digits at least, - and _ among them`)
      return raw
    },
  },
  NATS_PASSWORD_CONSOLE: text({
    about:
      'password of the NATS user console, by which it hears what moves; empty: it hears nothing',
    fallback: '',
    secret: true,
  }),
  CONSOLE_DATABASE_URL: text({
    about:
      'Postgres for the console, as a role that may only read: auditor; empty: it shows no item',
    fallback: '',
    secret: true,
  }),
  CONSOLE_DATABASE_PASSWORD: text({
    about: 'password of that role, when the URL has none',
    fallback: '',
    secret: true,
  }),
  SANDBOX_CONTROLS_URL: {
    ...text({
      about:
        "where the starter of a stack on this machine answers for the console's buttons; empty, as " +
        'in every deployment: there are none',
      fallback: '',
    }),
    type: 'URL',
    parse: (raw: string) => {
      if (raw !== '' && !/^http:\/\/127\.0\.0\.1:\d{1,5}$/.test(raw))
        throw new Error('must be http://127.0.0.1:<port>: buttons are for one machine alone')
      return raw
    },
  },
  SANDBOX_CONTROLS_TOKEN: text({
    about: 'by which that starter knows the gateway',
    fallback: '',
    secret: true,
  }),
  LEAVE_MS: durationMs({
    about:
      'how long it still serves once it is told to stop, while `/ready` says no; longer than a load ' +
      'balancer takes to see that',
    fallback: '3000',
  }),
  PUBLIC_URL: url({ about: 'base address as the app sees it' }),
  PAYMENTS_CALLBACK_TOKENS_ID: list({
    about: 'x-callback-token of the Indonesian account; two during a rotation',
    secret: true,
  }),
  PAYMENTS_CALLBACK_TOKENS_MY: list({
    about: 'x-callback-token of the Malaysian account; two during a rotation',
    secret: true,
  }),
  IDENTITY_PROVIDER: oneOf(['sumsub', 'persona'], {
    about: 'who verifies identities',
    fallback: 'sumsub',
  }),
  IDENTITY_WEBHOOK_SECRETS: list({
    about: "secrets of the provider's webhook; two during a rotation",
    secret: true,
  }),
  IDENTITY_LEVEL: text({
    about: 'verification level (Sumsub) or inquiry template id (Persona) that counts',
    fallback: 'basic-kyc-level',
  }),
  IDENTITY_ENVIRONMENT: oneOf(['sandbox', 'production'], {
    about: 'which approvals count; those of the other environment are refused',
    fallback: 'sandbox',
  }),
  IDENTITY_API_URL: url({ about: "base address of the identity provider's API" }),
  IDENTITY_APP_TOKEN: text({
    about: 'Sumsub app token; Persona has none',
    fallback: 'none',
    secret: true,
  }),
  IDENTITY_SECRET_KEY: text({ about: 'Sumsub secret key, or Persona API key', secret: true }),
  IDENTITY_RECHECK_OPEN_MS: durationMs({
    about: 'pause between two questions about a person who has a link and no final verdict',
    fallback: '3600000',
  }),
  IDENTITY_RECHECK_OPEN_FOR_MS: durationMs({
    about: 'how long after a link or verdict it is asked that often',
    fallback: '259200000',
  }),
  IDENTITY_RECHECK_MS: durationMs({
    about: 'the same pause later, and about verified people for ever',
    fallback: '86400000',
  }),
  IDENTITY_RECHECK_FOR_MS: durationMs({
    about: 'how long after a link or verdict a person who is not verified is asked about',
    fallback: '2592000000',
  }),
  IDENTITY_RECHECKS_PER_MINUTE: integer({
    about: 'questions at most, of each copy; Persona allows 300 calls in all, Sumsub 3600',
    fallback: '120',
  }),
  RATE_LIMIT_PUBLIC_PER_MINUTE: integer({
    about: 'public requests, and sign-ins to be checked, per address',
    fallback: '120',
  }),
  RATE_LIMIT_SIGNED_PER_MINUTE: integer({
    about: 'signed requests per wallet',
    fallback: '240',
  }),
  RATE_LIMIT_SIGNED_PER_ADDRESS_PER_MINUTE: integer({
    about: 'signed requests per address, of all wallets together, before a signature is looked at',
    fallback: '1200',
  }),
  RATE_LIMIT_DELIVERIES_PER_MINUTE: integer({
    about: "providers' deliveries per address; after an outage they catch up with thousands",
    fallback: '12000',
  }),
  PUBLIC_WAITING_MAX: integer({
    about:
      'public requests that wait at once, and sign-ins of contract wallets; more are answered 503',
    fallback: '200',
  }),
  CORS_ORIGINS: listOrNone({
    about: 'origins of the app, comma-separated, or none',
    fallback: 'none',
  }),
  TRUSTED_PROXIES: networksOrNone({
    about:
      'proxies whose X-Forwarded-For is believed: addresses or networks as 10.0.0.0/8, or none',
    fallback: 'none',
  }),
  STREAMS_EVERY_MS: durationMs({
    about: 'pause between two looks at how full the streams are',
    fallback: '30000',
  }),
  SWEEP_AFTER_MS: durationMs({
    about: 'how long an ordered flag or drip may stay quiet before it is asked for',
    fallback: '30000',
  }),
  SWEEP_EVERY_MS: durationMs({
    about: 'pause between two sweeps, and between two rounds of questions to the identity provider',
    fallback: '5000',
  }),
}

/** The configuration under camelCase names. */
export type Config = ConfigOf<typeof fields>
