import { type Hex, keccak256, stringToHex } from 'viem'

/** The contract applies each ref only once. */
export const refOf = (businessId: string): Hex => keccak256(stringToHex(`ref:${businessId}`))
