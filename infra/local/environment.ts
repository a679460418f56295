import { randomBytes } from 'node:crypto'
import type { DeployedContracts } from '#infra/contracts/deploy'
import { settingsHere } from '#infra/local/differences'
import { devKey, freshSecret } from '#infra/local/keys'
import { type LoginRole, loginRoles } from '#infra/migrations/databases'
import { natsUsers, passwordVariable } from '#infra/nats/server-environment'
import { isLoopback } from '#platform/config-fields'
import type { ProcessName, ServiceName } from '#shared/messages/topic'

export type Env = Record<string, string>
export type OwnProcess = ServiceName | 'sandbox' | 'operations'

export type Own = Readonly<Record<string, string | undefined>>

/** Returns the secrets: those that the user's environment sets, and new ones for the rest. */
export function makeSecrets(own: Own) {
  const or = (name: string, prefix = '') => own[name] || freshSecret(prefix)
  return {
    nats: Object.fromEntries(natsUsers.map((user) => [user, or(passwordVariable(user))])) as Record<
      (typeof natsUsers)[number],
      string
    >,
    postgres: or('POSTGRES_PASSWORD'),
    databaseRoles: Object.fromEntries(loginRoles.map((role) => [role, freshSecret()])) as Record<LoginRole, string>,
    providerKeys: {
      ID: or('PROVIDER_ID_SECRET_KEY', 'xnd_development_'),
      MY: or('PROVIDER_MY_SECRET_KEY', 'xnd_development_'),
    },
    callbackTokens: { ID: or('PAYMENTS_CALLBACK_TOKEN_ID'), MY: or('PAYMENTS_CALLBACK_TOKEN_MY') },
    identity: {
      webhookSecret: or('IDENTITY_WEBHOOK_SECRET'),
      appToken: or('IDENTITY_APP_TOKEN', 'sbx:'),
      secretKey: or('IDENTITY_SECRET_KEY'),
    },
    quotes: or('QUOTE_SECRETS'),
    console: or('CONSOLE_TOKEN'),
    bankDetailsKeys: own.BANK_DETAILS_KEYS || `local:${randomBytes(32).toString('base64')}`,
  }
}
export type Secrets = ReturnType<typeof makeSecrets>

/** The variables that `makeSecrets` reads. */
export function secretNames(): string[] {
  const names: string[] = []
  makeSecrets(new Proxy<Own>({}, { get: (_, name) => void names.push(String(name)) }))
  return names
}

export const laneKeys = [devKey('lane 0'), devKey('lane 1')]

export type Places = {
  gatewayPort: number
  opsPort: number
  gateway: string
  sandbox: string
  sandboxPort: number
  natsUrl: string
  /** Database without user and password: one or more `host:port`, and the name with parameters. */
  database: { host: string; name: string }
  rpcUrl: string
  chainId: number
  deployment: DeployedContracts
  bookPath: string
}

export const databaseUrlAs = (role: LoginRole, places: Places, secrets: Secrets): string =>
  `postgres://${role}:${secrets.databaseRoles[role]}@${places.database.host}/${places.database.name}`

export const wishes = ['LOG_LEVEL', 'TRACES_URL', 'TRACE_SAMPLE_PERCENT', 'CORS_ORIGINS'] as const

/** Wishes that one process gets, such as fees for an app that shows them. The sandbox checks the signatures of the events that it receives. */
export const wishesOf = {
  gateway: ['EVENTS_URL', 'EVENTS_SECRETS'],
  sandbox: ['EVENTS_SECRETS'],
  pricing: ['TOPUP_FEES'],
} as const satisfies { readonly [P in OwnProcess]?: readonly string[] }

const ownWishesOf = (process: OwnProcess): readonly string[] =>
  (wishesOf as { readonly [P in OwnProcess]?: readonly string[] })[process] ?? []

export const wishesIn = (own: Own, process: OwnProcess): Env =>
  Object.fromEntries([...wishes, ...ownWishesOf(process)].flatMap((name) => (own[name] ? [[name, own[name]]] : [])))

/** Returns the hosts of NATS and Postgres that the user's environment names on another machine. */
function hostsElsewhere({ natsUrl, database }: Places): string[] {
  const urls = [...natsUrl.split(','), ...database.host.split(',').map((host) => `postgres://${host}`)]
  return urls.map((one) => new URL(one).hostname).filter((host) => !isLoopback(host))
}

/**
 * Returns the environment of each process: the values of a deployment, the table of differences, and the addresses and
 * secrets, of which each deployment has its own.
 */
export function environments(places: Places, secrets: Secrets): Record<OwnProcess, Env> {
  const elsewhere = hostsElsewhere(places)
  const bus = (service: ProcessName): Env => ({
    ...settingsHere(service),
    DEPLOYMENT: 'local',
    // The chain keys are public, and the user's secrets may be too.
    PUBLIC_SECRETS: 'allowed',
    ...(elsewhere.length > 0 ? { UNENCRYPTED_HOSTS: elsewhere.join(',') } : {}),
    NATS_URL: places.natsUrl,
    NATS_PASSWORD: secrets.nats[service],
  })
  const { deployment } = places
  /** What operators sign for. */
  const line: Env = {
    CHAIN_ID: String(places.chainId),
    CREDIT_LINE_ADDRESS: deployment.creditLine,
  }
  const chain: Env = {
    ...line,
    RPC_URLS: places.rpcUrl,
    GENESIS_HASH: deployment.genesisHash,
  }
  const identity: Env = {
    IDENTITY_APP_TOKEN: secrets.identity.appToken,
    IDENTITY_SECRET_KEY: secrets.identity.secretKey,
  }
  const provider: Env = {
    PROVIDER_URL: places.sandbox,
    PROVIDER_ID_SECRET_KEY: secrets.providerKeys.ID,
  }
  return {
    gateway: {
      ...bus('gateway'),
      ...line,
      ...identity,
      DATABASE_URL: databaseUrlAs('gateway', places, secrets),
      HTTP_PORT: String(places.gatewayPort),
      OPS_PORT: String(places.opsPort),
      CONSOLE_TOKEN: secrets.console,
      NATS_PASSWORD_INTEGRATOR: secrets.nats.integrator,
      PUBLIC_URL: places.gateway,
      SUPPORT_CONTACT: 'help@example.org',
      PAYMENTS_CALLBACK_TOKENS_ID: secrets.callbackTokens.ID,
      PAYMENTS_CALLBACK_TOKENS_MY: secrets.callbackTokens.MY,
      IDENTITY_WEBHOOK_SECRETS: secrets.identity.webhookSecret,
      IDENTITY_API_URL: places.sandbox,
      CORS_ORIGINS: `${places.sandbox},http://127.0.0.1:5173,http://localhost:5173`,
    },
    pricing: {
      ...bus('pricing'),
      DATABASE_URL: databaseUrlAs('pricing', places, secrets),
      QUOTE_SECRETS: secrets.quotes,
    },
    payments: {
      ...bus('payments'),
      ...line,
      ...provider,
      DATABASE_URL: databaseUrlAs('payments', places, secrets),
      PROVIDER_MY_SECRET_KEY: secrets.providerKeys.MY,
      APP_URL: `${places.sandbox}/app`,
    },
    payouts: {
      ...bus('payouts'),
      ...line,
      ...provider,
      DATABASE_URL: databaseUrlAs('payouts', places, secrets),
      TREASURY_ADDRESS: deployment.treasury,
      BANK_DETAILS_KEYS: secrets.bankDetailsKeys,
    },
    'chain-relayer': {
      ...bus('chain-relayer'),
      ...chain,
      DATABASE_URL: databaseUrlAs('chain_relayer', places, secrets),
      AUSD_ADDRESS: deployment.ausd,
      TREASURY_KEY: devKey('treasury'),
      LANE_KEYS: laneKeys.join(','),
    },
    'indexer-reader': {
      ...bus('indexer-reader'),
      ...chain,
      DATABASE_URL: databaseUrlAs('indexer_reader', places, secrets),
      DEPLOY_BLOCK: String(deployment.deployBlock),
    },
    operations: {
      ...bus('operations'),
      RPC_URLS: places.rpcUrl,
      CREDIT_LINE_ADDRESS: deployment.creditLine,
      DATABASE_URL: databaseUrlAs('operations', places, secrets),
      AUSD_ADDRESS: deployment.ausd,
      TREASURY_ADDRESS: deployment.treasury,
      DEPLOY_BLOCK: String(deployment.deployBlock),
      PROVIDER_URL: places.sandbox,
      PROVIDER_ID_SECRET_KEY: secrets.providerKeys.ID,
      PROVIDER_MY_SECRET_KEY: secrets.providerKeys.MY,
      CONSOLE_TOKEN: secrets.console,
      NATS_PASSWORD_CONSOLE: secrets.nats.console,
    },
    sandbox: {
      ...identity,
      PORT: String(places.sandboxPort),
      GATEWAY_URL: places.gateway,
      APP_URL: `${places.sandbox}/app`,
      PROVIDER_ID_SECRET_KEY: secrets.providerKeys.ID,
      PROVIDER_MY_SECRET_KEY: secrets.providerKeys.MY,
      PAYMENTS_CALLBACK_TOKEN_ID: secrets.callbackTokens.ID,
      PAYMENTS_CALLBACK_TOKEN_MY: secrets.callbackTokens.MY,
      IDENTITY_PROVIDER: 'sumsub',
      IDENTITY_WEBHOOK_SECRET: secrets.identity.webhookSecret,
      APP_GATEWAY_URL: places.gateway,
      APP_RPC_URL: places.rpcUrl.split(',')[0]!, // The sandbox uses the first of the services' endpoints.
      SANDBOX_BOOK: places.bookPath,
      RPC_URL: places.rpcUrl.split(',')[0]!,
    },
  }
}
