import { type Hex, keccak256, stringToHex } from 'viem'

export const laneRoles = ['RELAYER_ROLE', 'VERIFIER_ROLE'] as const

/** Returns the name of a role in the credit line's storage. */
export const roleHash = (role: (typeof laneRoles)[number]): Hex => keccak256(stringToHex(role))
