import type { Address, Hex } from 'viem'
import type { LaneRole } from '#shared/chain/lane-roles'
import type { DeployedTerms } from './wanted'

export type ChainFacts = {
  readonly chainId: number
  readonly genesisHash: Hex
  readonly isAnvil: boolean
}

export type Domain = {
  readonly name: string
  readonly version: string
  readonly chainId: bigint
  readonly verifyingContract: Address
}

/** Facts of a token. A field is null if the contract has no such function. */
export type TokenFacts = {
  readonly address: Address
  readonly hasCode: boolean
  readonly domain: Domain | null
  readonly separator: Hex | null
  readonly mintable: boolean
}

/** Facts of a credit line. A field is null if it is unknown or the contract has no such function. */
export type LineFacts = {
  readonly address: Address
  readonly hasCode: boolean
  readonly version: bigint | null
  readonly token: Address | null
  readonly treasury: Address | null
  readonly terms: DeployedTerms | null
  readonly deployBlock: number | null
  readonly adminHasRole: boolean
  readonly isPaused: boolean
  readonly liquidityMicro: bigint
  readonly treasuryAllowanceMicro: bigint
  readonly adminAllowanceMicro: bigint
  readonly rolesMissing: readonly { readonly lane: Address; readonly role: LaneRole }[]
}

export type Holder = {
  readonly address: Address
  readonly wei: bigint
  readonly ausdMicro: bigint
}

/** Facts of the chain. `token` and `line` are null until they are deployed. */
export type DeployFacts = ChainFacts & {
  /** The latest block of the endpoint. */
  readonly blockNumber: bigint
  readonly hasMulticall: boolean
  readonly maxFeeWei: bigint
  readonly token: TokenFacts | null
  readonly line: LineFacts | null
  readonly admin: Holder
  readonly treasury: Holder
  readonly lanes: readonly Holder[]
}
