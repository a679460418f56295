import { type Hex, keccak256, stringToHex } from 'viem'

/** Returns the on-chain ref of a business id. The contract applies each ref only once. */
export const refOf = (businessId: string): Hex => keccak256(stringToHex(`ref:${businessId}`))
