import { type Hex, keccak256, stringToHex } from 'viem'

/** Roles of the credit line that each lane needs. */
export const laneRoles = ['RELAYER_ROLE', 'VERIFIER_ROLE'] as const
export type LaneRole = (typeof laneRoles)[number]

/** Returns a role as the contracts know it. */
export const roleHash = (role: string): Hex => keccak256(stringToHex(role))
