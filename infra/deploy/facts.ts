import type { Address, Hex } from 'viem'
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

/** Null fields: the contract has no such function. */
export type TokenFacts = {
  readonly address: Address
  readonly hasCode: boolean
  readonly domain: Domain | null
  readonly separator: Hex | null
  readonly mintable: boolean
}

/** Null fields: the contract has no such function, or unknown. */
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
  readonly rolesMissing: readonly { readonly lane: Address; readonly role: Role }[]
}

export const roles = ['RELAYER_ROLE', 'VERIFIER_ROLE'] as const
export type Role = (typeof roles)[number]

export type Holder = {
  readonly address: Address
  readonly wei: bigint
  readonly ausdMicro: bigint
}

/** `token` and `line` are null until deployed. */
export type DeployFacts = ChainFacts & {
  readonly hasMulticall: boolean
  readonly maxFeeWei: bigint
  readonly token: TokenFacts | null
  readonly line: LineFacts | null
  readonly admin: Holder
  readonly treasury: Holder
  readonly lanes: readonly Holder[]
}
