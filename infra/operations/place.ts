import type { Address } from 'viem'
import type { StackFile } from '#infra/local/stack-file'
import { localStackWithout } from '#infra/operations/cli/connection'
import { operatorAccess } from '#infra/operations/cli/operator'
import type { ProviderPlace } from '#infra/operations/restore/provider'
import { readConfig, variableIn } from '#platform/config'
import { integer, text, url } from '#platform/config-fields'
import { urlInRole } from '#platform/db/url'
import { payoutApisOf, fields as payoutFields } from '../../services/payouts/config'

export type Place = {
  /** JSON-RPC endpoints, best first. */
  rpcUrls: readonly string[]
  ausd: Address
  creditLine: Address
  treasury: Address
  deployBlock: bigint
  /** Blocks per `eth_getLogs`. Public Monad endpoints accept 100. */
  logsRangeMax: bigint
  /** Undefined if nothing is compared with the provider. */
  provider?: ProviderPlace | undefined
}

const rangeMax = 100n

export const placeOf = ({ chain, gateway, sandbox, provider }: StackFile): Place & { gateway: string } => ({
  rpcUrls: [chain.rpcUrl],
  ausd: chain.ausd as Address,
  creditLine: chain.creditLine as Address,
  treasury: chain.treasury as Address,
  deployBlock: 0n,
  logsRangeMax: rangeMax,
  gateway,
  provider: {
    url: sandbox,
    requestsPerMinute: 60_000,
    keys: { ID: provider.ID.secretKey, MY: provider.MY.secretKey },
  },
})

const providerFields = {
  PROVIDER_URL: url({ about: "base URL of the provider's API", fallback: 'https://api.xendit.co' }),
  PROVIDER_ID_SECRET_KEY: text({ about: 'secret key of the Indonesian account', secret: true }),
  PROVIDER_MY_SECRET_KEY: text({ about: 'secret key of the Malaysian account', secret: true }),
  PROVIDER_REQUESTS_PER_MINUTE: integer({
    least: 1,
    most: 1_000_000,
    about: 'maximum calls per minute and endpoint',
    fallback: '60',
  }),
  PROVIDER_PAYOUTS_API: payoutFields.PROVIDER_PAYOUTS_API,
}

function providerPlace(env: NodeJS.ProcessEnv): ProviderPlace | undefined {
  if (!variableIn(env, 'PROVIDER_ID_SECRET_KEY')) return undefined
  const config = readConfig('operator', providerFields, env)
  return {
    url: config.providerUrl,
    requestsPerMinute: config.providerRequestsPerMinute,
    payoutApis: payoutApisOf(config.providerPayoutsApi),
    keys: { ID: config.providerIdSecretKey, MY: config.providerMySecretKey },
  }
}

/** Returns RPC_URL alone, or else the services' endpoints. It is undefined if neither is set. */
export const operatorRpcUrls = (env: NodeJS.ProcessEnv): readonly string[] | undefined =>
  (variableIn(env, 'RPC_URL') ?? variableIn(env, 'RPC_URLS'))?.split(',')

const databases = ['DATABASE_OPS_URL', 'DATABASE_ADMIN_URL']

/**
 * Returns the running local stack. Throws if a database of a deployment is named: its rows, and the books that are written with
 * them, would be those of another chain and provider.
 */
export const localStack = (env: NodeJS.ProcessEnv): StackFile =>
  localStackWithout('RPC_URLS', { others: databases, env })

/** Returns the running local stack, or the deployment if RPC_URL or RPC_URLS is set. */
export function operatorPlace(env: NodeJS.ProcessEnv = process.env): Place {
  const rpcUrls = operatorRpcUrls(env)
  if (!rpcUrls) return placeOf(localStack(env))
  // The rows would be those of a local stack, which a restore would change in place of the deployment's.
  if (!databases.some((name) => variableIn(env, name)))
    throw new Error(`RPC_URL is set: set ${databases.join(' or ')} too`)
  const need = (name: string): string => {
    const value = variableIn(env, name)
    if (!value) throw new Error(`RPC_URL is set: set ${name} too`)
    return value
  }
  return {
    rpcUrls,
    ausd: need('AUSD_ADDRESS') as Address,
    creditLine: need('CREDIT_LINE_ADDRESS') as Address,
    treasury: need('TREASURY_ADDRESS') as Address,
    deployBlock: BigInt(need('DEPLOY_BLOCK')),
    logsRangeMax: BigInt(variableIn(env, 'LOGS_RANGE_MAX') ?? rangeMax),
    provider: providerPlace(env),
  }
}

/** Returns the URL of Postgres in the role of the books. A command that uses it has no more rights than they. */
export const booksDatabaseUrl = (env: NodeJS.ProcessEnv = process.env): string =>
  urlInRole(operatorAccess(env).databaseUrl, 'books')
