import { type Address, getAddress, type Hex } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { ConfigOf } from '#platform/config'
import type { fields } from './config'

/** Immutable terms: times in seconds, debt in micro-AUSD, ratio in basis points. */
export type DeployedTerms = Readonly<Record<TermName, bigint>>
export const termNames = [
  'holdSeconds',
  'minCycleSeconds',
  'minDebt',
  'termSeconds',
  'graceSeconds',
  'initialRatioBps',
] as const
export type TermName = (typeof termNames)[number]

/** Wanted deployment. Addresses are checksummed. It contains no key. */
export type WantedDeployment = {
  readonly chainId: number
  readonly genesisHash: string
  readonly ausd: Address | 'deploy'
  readonly creditLine: Address | 'deploy'
  readonly deployBlock: number | 'find'
  readonly admin: Address
  readonly treasury: Address
  readonly lanes: readonly Address[]
  readonly terms: DeployedTerms
  readonly laneWei: bigint
  readonly treasuryAusdMicro: bigint
  readonly liquidityMicro: bigint
  readonly testFunds: boolean
}
export type Signers = ReadonlyMap<Address, PrivateKeyAccount>

export function wantedOf(config: ConfigOf<typeof fields>): {
  wanted: WantedDeployment
  signers: Signers
} {
  const account = (key: Hex) => privateKeyToAccount(key)
  const [admin, treasury] = [account(config.adminKey), account(config.treasuryKey)]
  const wanted: WantedDeployment = {
    chainId: config.chainId,
    genesisHash: config.genesisHash,
    ausd: placed(config.ausdAddress),
    creditLine: placed(config.creditLineAddress),
    deployBlock: config.deployBlock,
    admin: admin.address,
    treasury: treasury.address,
    lanes: config.laneKeys.map((key) => account(key).address),
    terms: {
      holdSeconds: BigInt(config.holdSeconds),
      minCycleSeconds: BigInt(config.minCycleSeconds),
      minDebt: config.minDebtAusdMicro,
      termSeconds: BigInt(config.termSeconds),
      graceSeconds: BigInt(config.graceSeconds),
      initialRatioBps: BigInt(config.initialRatioBps),
    },
    laneWei: config.laneWei,
    treasuryAusdMicro: config.treasuryAusdMicro,
    liquidityMicro: config.liquidityAusdMicro,
    testFunds: config.deployTestFunds === 'yes',
  }
  return { wanted, signers: new Map([admin, treasury].map((one) => [one.address, one])) }
}

const placed = (value: Address | 'deploy') => (value === 'deploy' ? value : getAddress(value))
