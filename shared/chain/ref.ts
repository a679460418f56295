import { type Hex, keccak256, stringToHex } from 'viem'

/** The on-chain ref of a business id: the contract refuses to apply one ref twice. */
export const refOf = (businessId: string): Hex => keccak256(stringToHex(`ref:${businessId}`))
