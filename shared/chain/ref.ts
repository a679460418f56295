import { type Hex, keccak256, stringToHex } from 'viem'

/** Returns the ref of a business id, which the contract applies only once. */
export const refOf = (businessId: string): Hex => keccak256(stringToHex(`ref:${businessId}`))
