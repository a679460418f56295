/** What a cycle costs that is repaid after its term. `Cycles.sol` has the same constants. */
export const lateCost = { score: 20, ratioBps: 500n } as const

/** Cost of credit by the contract, which charges neither interest nor fees. */
export const creditCost = {
  interestBps: '0',
  drawFee: '0',
  repaymentFee: '0',
  late: { score: lateCost.score, ratioBps: String(lateCost.ratioBps) },
  default: { seizes: 'collateral', score: 'all', borrowing: 'ends' },
} as const
