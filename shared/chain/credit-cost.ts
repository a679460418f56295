/** What a cycle costs that is repaid after its term. `Cycles.sol` has the same constants. */
export const lateCost = { score: 20, ratioBps: 500n } as const
