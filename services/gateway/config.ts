import type { ConfigOf } from '#platform/config'
import { durationMs, integer, list, listOrNone, networksOrNone, oneOf, text, url } from '#platform/config-fields'
import { deployedRules, fitting, type Other, publicUrl } from '#platform/deployment'
import { commonFields, databaseFields } from '#platform/service'
import { consoleToken } from '#shared/api/console-token'
import { pilotWallets } from '#shared/money/pilot'
import { operatorFields } from '#shared/operators/operators'
import { keyOf } from './push/signed-headers'

const isPersona = (other: Other): boolean => other?.('IDENTITY_PROVIDER') === 'persona'

/** Beginnings of the keys of both identity providers. Sources: docs.sumsub.com, docs.withpersona.com, "API keys". */
const identityKeys = {
  sumsub: { test: 'sbx:', live: 'prd:' },
  persona: { test: 'persona_sandbox_', live: 'persona_production_' },
} as const

/** Rules of a key that shows its environment. `shows` is true where this provider's key does. */
function keyRules(provider: keyof typeof identityKeys, shows: (other: Other) => boolean) {
  const { test, live } = identityKeys[provider]
  const begins = (wanted: string) => (key: string, other: Other) =>
    !shows(other) || key.startsWith(wanted) ? undefined : `must begin with ${wanted}`
  const notLive = (key: string, other: Other) =>
    shows(other) && key.startsWith(live) ? `must not begin with ${live}` : undefined
  return { local: notLive, test: begins(test), live: begins(live) }
}

const identityAppToken = fitting(
  {
    ...text({ about: 'Sumsub app token; Persona has none', fallback: 'none', secret: true }),
    parse: (raw: string, other: Other) => {
      if (raw === 'none' && !isPersona(other)) throw new Error('is not set: Sumsub app token')
      return raw
    },
  },
  keyRules('sumsub', (other) => !isPersona(other)),
)

const identitySecretKey = fitting(
  text({ about: 'Sumsub secret key, or Persona API key', secret: true }),
  keyRules('persona', isPersona),
)

/** One account's token would accept the deliveries of the other. */
const otherTokens = (tokens: readonly string[], other: Other) => {
  const indonesian = (other?.('PAYMENTS_CALLBACK_TOKENS_ID') ?? '').split(',').map((token) => token.trim())
  return tokens.some((token) => indonesian.includes(token))
    ? 'must differ from those of the Indonesian account'
    : undefined
}

/** Without the URL no event is sent, and the settings that it needs mean nothing. */
const sendsEvents = (other: Other): boolean => other?.('EVENTS_URL') !== undefined

const eventsUrl = fitting(
  {
    ...text({
      about: "endpoint of the integrator's server that gets each event by HTTP; empty: none",
      fallback: '',
      secret: true, // Its path or query may be a token.
    }),
    type: 'URL',
    parse: (raw: string) => {
      if (raw === '') return raw
      const url = URL.parse(raw)
      if (!url || !/^https?:$/.test(url.protocol)) throw new Error('must be an http or https URL')
      if (url.username || url.password) throw new Error('must have no user and password: its calls are signed')
      return raw
    },
  },
  { live: (raw) => (raw === '' || raw.startsWith('https://') ? undefined : 'must begin with https://') },
)

const eventsSecrets = {
  ...text({
    about: 'secrets that sign the events, whsec_<base64>, newest first; two during a rotation',
    fallback: '',
    secret: true,
  }),
  type: 'list',
  parse: (raw: string, other: Other): readonly Buffer[] => {
    if (raw === '' && sendsEvents(other)) throw new Error('is not set: secrets that sign what EVENTS_URL gets')
    if (raw !== '' && !sendsEvents(other)) throw new Error('is set, but EVENTS_URL is not')
    return raw === '' ? [] : raw.split(',').map((secret) => keyOf(secret.trim()))
  },
}

const integratorPassword = {
  ...text({ about: 'password of the NATS user integrator; with EVENTS_URL', fallback: '', secret: true }),
  parse: (raw: string, other: Other) => {
    if (raw === '' && sendsEvents(other)) throw new Error('is not set: password of the NATS user integrator')
    return raw
  },
}

/** Returns true for an origin as browsers send it: in lower case, without a path and without the port of its scheme. */
function isOrigin(text: string): boolean {
  if (text.includes('*')) return false
  const origin = URL.parse(text)?.origin
  // Web views have schemes of their own, whose origin a URL does not tell.
  return origin === 'null' ? /^[a-z][a-z0-9+.-]*:\/\/[^/?#A-Z]+$/.test(text) : origin === text
}

const origins = listOrNone({ about: 'origins of the app', fallback: 'none' })

/** Another spelling of an origin would allow no request of the app. */
const corsOrigins = fitting(
  {
    ...origins,
    parse: (raw: string) => {
      const given = origins.parse(raw)
      if (!given.every(isOrigin))
        throw new Error('must be origins such as https://app.example.org, without a slash at the end')
      return given
    },
  },
  {
    live: (given) => (given.some((origin) => !origin.startsWith('https://')) ? 'must begin with https://' : undefined),
  },
)

export const fields = {
  ...commonFields,
  ...databaseFields,
  ...operatorFields,
  HTTP_HOST: text({ about: 'public listen address', fallback: '127.0.0.1' }),
  HTTP_PORT: integer({ least: 0, most: 65_535, about: 'public listen port', fallback: '3000' }),
  OPS_HOST: text({ about: "operators' listen address", fallback: '127.0.0.1' }),
  OPS_PORT: integer({
    least: 0,
    most: 65_535,
    about: "operators' listen port: console, `/metrics`, detailed `/ready`; never expose it",
    fallback: '3001',
  }),
  OPS_ALLOWED_HOSTS: listOrNone({
    about: "host names accepted on the operators' port in addition to IP addresses and localhost",
    fallback: 'none',
  }),
  CONSOLE_TOKEN: consoleToken,
  SANDBOX_CONTROLS_URL: fitting(
    {
      ...text({
        about: 'sandbox controls of a local stack; empty: none',
        fallback: '',
      }),
      type: 'URL',
      parse: (raw: string) => {
        if (raw !== '' && !/^http:\/\/127\.0\.0\.1:\d{1,5}$/.test(raw))
          throw new Error('must be http://127.0.0.1:<port>: the sandbox works only on one machine')
        return raw
      },
    },
    deployedRules((raw) => (raw === '' ? undefined : 'must be empty')),
  ),
  SANDBOX_CONTROLS_TOKEN: text({
    about: 'token for the sandbox controls',
    fallback: '',
    secret: true,
  }),
  DRAIN_MS: durationMs({
    minMs: 0,
    // Its container is killed a minute after it was told to stop.
    maxMs: 50_000,
    about: 'how long `/ready` returns 503 before a stop; longer than the load balancer needs to notice',
    fallback: '3000',
  }),
  PUBLIC_URL: publicUrl(url({ about: 'public base URL as the app sees it' })),
  SUPPORT_CONTACT: {
    ...text({
      about: 'how users reach support, an e-mail address or an https address; in every sentence that sends them there',
    }),
    parse: (raw: string) => {
      if (!/^(?:[^\s@]+@[^\s@]+\.[^\s@]+|https:\/\/\S+)$/.test(raw))
        throw new Error('must be an e-mail address or an https address')
      return raw
    },
  },
  TERMS_VERSION: {
    ...text({
      about: 'version of the terms of service that users must accept, such as their date; none: no terms',
      fallback: 'none',
    }),
    parse: (raw: string) => {
      if (!/^[A-Za-z0-9._-]{1,40}$/.test(raw)) throw new Error('must be 1 to 40 letters, digits, points, - or _')
      return raw
    },
  },
  TERMS_URL: {
    ...text({ about: 'page with the terms of that version', fallback: 'none' }),
    type: 'URL',
    parse: (raw: string, other?: (name: string) => string | undefined) => {
      const hasTerms = (other?.('TERMS_VERSION') ?? 'none') !== 'none'
      if (!hasTerms) return raw
      if (!raw.startsWith('https://') || !URL.canParse(raw)) throw new Error('must be the https address of the terms')
      return raw
    },
  },
  EVENTS_URL: eventsUrl,
  EVENTS_SECRETS: eventsSecrets,
  NATS_PASSWORD_INTEGRATOR: integratorPassword,
  PAYMENTS_CALLBACK_TOKENS_ID: list({
    about: 'x-callback-token of the Indonesian account; two during a rotation',
    secret: true,
  }),
  PAYMENTS_CALLBACK_TOKENS_MY: fitting(
    list({ about: 'x-callback-token of the Malaysian account; two during a rotation', secret: true }),
    deployedRules(otherTokens),
  ),
  IDENTITY_PROVIDER: oneOf(['sumsub', 'persona'], {
    about: 'identity provider',
    fallback: 'sumsub',
  }),
  IDENTITY_WEBHOOK_SECRETS: list({
    about: "secret of the identity provider's webhook; two during a rotation",
    secret: true,
  }),
  IDENTITY_LEVEL: {
    ...text({
      about: 'required Sumsub level or Persona template id; users who were approved at an earlier one stay verified',
      fallback: 'basic-kyc-level',
    }),
    parse: (raw: string, other?: (name: string) => string | undefined) => {
      if (other?.('IDENTITY_PROVIDER') === 'persona' && !raw.startsWith('itmpl_'))
        throw new Error('must be the id of a Persona template, itmpl_…')
      return raw
    },
  },
  IDENTITY_API_URL: publicUrl(url({ about: "base URL of the identity provider's API" })),
  IDENTITY_APP_TOKEN: identityAppToken,
  IDENTITY_SECRET_KEY: identitySecretKey,
  PILOT_WALLETS: pilotWallets,
  IDENTITY_RECHECK_OPEN_MS: durationMs({
    about: 'recheck interval of a user with a link and no final verdict, for three days after a link or verdict',
    fallback: '3600000',
  }),
  IDENTITY_RECHECK_MS: durationMs({
    about: 'later recheck interval, for a month after a link or verdict; for approved users permanent',
    fallback: '86400000',
  }),
  IDENTITY_RECHECKS_PER_MINUTE: integer({
    least: 1,
    most: 100_000,
    about:
      'maximum rechecks of all instances, of up to 3 calls, and half as many links, of 2; Persona allows 300 calls, Sumsub 3600',
    fallback: '75',
  }),
  RATE_LIMIT_PUBLIC_PER_MINUTE: integer({
    least: 1,
    most: 100_000_000,
    about: 'public requests without a session, and documentation, per address',
    fallback: '120',
  }),
  RATE_LIMIT_SIGNED_PER_MINUTE: integer({
    least: 1,
    most: 100_000_000,
    about: 'signed requests per wallet',
    fallback: '240',
  }),
  RATE_LIMIT_SIGN_INS_PER_MINUTE: integer({
    least: 1,
    most: 100_000_000,
    about:
      'new and refused sessions per address, starts of an app, and health checks; a phone network has hundreds of users behind one',
    fallback: '1200',
  }),
  RATE_LIMIT_DELIVERIES_PER_MINUTE: integer({
    least: 1,
    most: 100_000_000,
    about: 'webhooks per address; thousands follow an outage',
    fallback: '12000',
  }),
  PUBLIC_CONCURRENCY_MAX: integer({
    least: 1,
    most: 100_000,
    about: 'maximum concurrent public requests, and separately sign-ins of contract wallets',
    fallback: '200',
  }),
  CORS_ORIGINS: corsOrigins,
  TRUSTED_PROXIES: networksOrNone({
    about: 'proxies whose X-Forwarded-For is trusted, e.g. 10.0.0.0/8',
    fallback: 'none',
  }),
  STREAMS_EVERY_MS: durationMs({
    about: 'interval between checks of stream usage',
    fallback: '30000',
  }),
  REMINDERS_EVERY_MS: durationMs({
    about: 'interval between rounds that send the reminders of due debts',
    fallback: '60000',
  }),
  RECHECK_AFTER_MS: durationMs({
    about: 'recheck an item after this long without an update',
    fallback: '30000',
  }),
  RECHECK_EVERY_MS: durationMs({
    about: 'interval between recheck rounds',
    fallback: '5000',
  }),
}

export type Config = ConfigOf<typeof fields>

/** Usage of a stream in percent from which an alert is raised: a full stream refuses new messages. */
export const streamAlarmPercent = 70
