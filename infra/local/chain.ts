import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTestClient, type Hex, http, parseEther, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type DeployedContracts, deployContracts } from '#infra/contracts/deploy'
import { anvilBinary, anvilFlags, localChainId } from '#infra/local/chain/anvil'
import { damaged } from '#infra/local/chain/files'
import { askNode } from '#infra/local/chain/node'
import type { Command } from '#infra/local/child'
import { termHere } from '#infra/local/differences'
import { repositoryDir } from '#infra/local/folders'
import { type DevAccount, devKey } from '#infra/local/keys'
import type { ProcessDeath } from '#infra/local/supervisor'
import { blockMs } from '#shared/chain/blocks'
import { chainOf } from '#shared/chain/client'

export { localChainId }

/**
 * Monad's pace and finality: a block every 0.3 s, `finalized` two blocks behind `latest`. Its state ends with the
 * process.
 */
export const planChain = (options: { dir: string; port: number }): Command => ({
  name: 'chain',
  bin: anvilBinary(),
  args: ['--host', '127.0.0.1', '--port', String(options.port), '--block-time', String(blockMs / 1_000), ...anvilFlags],
  env: {},
  logFile: join(options.dir, 'logs/chain.log'),
})

/** Folder of the chain that `planKeptChain` runs. */
export const keptChainDir = (dir: string) => join(dir, 'chain')

/** Plans a chain that continues after a kill, and with `start --keep`. */
export const planKeptChain = (options: { dir: string; port: number }): Command => ({
  name: 'chain',
  bin: process.execPath,
  args: [join(repositoryDir, 'infra/local/chain/keep.ts')],
  env: { CHAIN_DIR: keptChainDir(options.dir), PORT: String(options.port), END_WITH_STDIN: '1' },
  logFile: join(options.dir, 'logs/chain.log'),
})

/** Terms of the contracts. Times are in seconds. */
export type LocalChainTerms = {
  holdSeconds: number
  minCycleSeconds: number
  minDebtMicro: bigint
  termSeconds: number
  graceSeconds: number
}
export const localTerms: LocalChainTerms = {
  holdSeconds: Number(termHere('HOLD_SECONDS')),
  minCycleSeconds: Number(termHere('MIN_CYCLE_SECONDS')),
  minDebtMicro: BigInt(termHere('MIN_DEBT_AUSD_MICRO')),
  termSeconds: Number(termHere('TERM_SECONDS')),
  graceSeconds: Number(termHere('GRACE_SECONDS')),
}

const walletAusdMicro = 1_000_000_000n
/**
 * Below the drip's target, so that the drip is visible; enough for two user calls (400,000 gas at twice the
 * base fee) at a fresh chain's 100 gwei.
 */
export const walletWei = parseEther('0.2')

const createClient = (rpcUrl: string) =>
  createTestClient({ mode: 'anvil', chain: chainOf(localChainId), transport: http(rpcUrl) }).extend(publicActions)

export async function layChain(options: {
  rpcUrl: string
  laneKeys: readonly Hex[]
  wallets: readonly DevAccount[]
  terms: LocalChainTerms
}): Promise<DeployedContracts> {
  const lanes = options.laneKeys.map((key) => privateKeyToAccount(key).address)
  const addresses = options.wallets.map(({ address }) => address)
  const client = createClient(options.rpcUrl)
  await Promise.all(addresses.map((address) => client.setBalance({ address, value: walletWei })))
  return await deployContracts({
    rpcUrl: options.rpcUrl,
    adminKey: devKey('admin'),
    treasuryKey: devKey('treasury'),
    relayers: lanes,
    verifiers: lanes,
    treasuryFundsMicro: BigInt(termHere('TREASURY_AUSD_MICRO')),
    liquidityMicro: BigInt(termHere('LIQUIDITY_AUSD_MICRO')),
    wallets: addresses,
    walletFundsMicro: walletAusdMicro,
    ...options.terms,
  })
}

export async function hasContracts(rpcUrl: string, { creditLine }: DeployedContracts): Promise<boolean> {
  const code = await createClient(rpcUrl).getCode({ address: creditLine })
  return code !== undefined && code !== '0x'
}

export const chainAnswers = async (rpcUrl: string): Promise<boolean> => (await askNode(rpcUrl, 'eth_chainId')) !== ''

export const diedOfDamage = ({ name, logFile }: Pick<ProcessDeath, 'name' | 'logFile'>): boolean =>
  name === 'chain' && existsSync(logFile) && readFileSync(logFile, 'utf8').includes(damaged)
