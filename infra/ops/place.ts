import { join } from 'node:path'
import type { Address } from 'viem'
import { repositoryDir } from '#infra/local/folders'
import { readStackFile, type StackFile } from '#infra/local/stack-file'
import { operatorDatabaseUrl } from '#infra/ops/stack'

/** Where an operator's check finds the chain and what it compares the chain with. */
export type Place = {
  rpcUrl: string
  ausd: Address
  creditLine: Address
  treasury: Address
  deployBlock: bigint
  /** Blocks per `eth_getLogs`: public endpoints of Monad take 100. */
  logsRangeMax: bigint
  gateway: string
  /** The sandbox, whose book knows what the provider did; undefined with a real provider. */
  sandbox: string | undefined
}

const rangeMax = 100n

export const placeOf = ({ chain, gateway, sandbox }: StackFile): Place => ({
  rpcUrl: chain.rpcUrl,
  ausd: chain.ausd as Address,
  creditLine: chain.creditLine as Address,
  treasury: chain.treasury as Address,
  deployBlock: 0n,
  logsRangeMax: rangeMax,
  gateway,
  sandbox,
})

/** The running local stack; or, with RPC_URL set, what the environment names. */
export function operatorPlace(env: NodeJS.ProcessEnv = process.env): Place {
  if (!env.RPC_URL) return placeOf(readStackFile(env.LOCAL_DIR ?? join(repositoryDir, '.local')))
  const need = (name: string): string => {
    const value = env[name]
    if (!value) throw new Error(`with RPC_URL set, ${name} is needed too`)
    return value
  }
  return {
    rpcUrl: env.RPC_URL,
    ausd: need('AUSD_ADDRESS') as Address,
    creditLine: need('CREDIT_LINE_ADDRESS') as Address,
    treasury: need('TREASURY_ADDRESS') as Address,
    deployBlock: BigInt(need('DEPLOY_BLOCK')),
    logsRangeMax: BigInt(env.LOGS_RANGE_MAX ?? rangeMax),
    gateway: need('GATEWAY_URL'),
    sandbox: env.SANDBOX_URL,
  }
}

/** Postgres as somebody who only reads: DATABASE_AUDITOR_URL, or the operator's own. */
export const auditorDatabaseUrl = (env: NodeJS.ProcessEnv = process.env): string =>
  env.DATABASE_AUDITOR_URL ?? operatorDatabaseUrl(env)
