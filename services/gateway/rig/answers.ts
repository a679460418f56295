/** What `chain.account` says of a wallet in the suites. */
export const account = {
  verified: true,
  defaulted: false,
  frozen: false,
  score: '520',
  ratioBps: '8200',
  cycles: 3,
  collateral: {
    value: '10000000',
    shares: '9999999',
    pendingShares: '5',
    pendingUntil: '1795244460',
  },
  limit: '8200000',
  drawn: '1200000',
  encumbered: '3000000',
  encumberedUntil: '1795244470',
  available: '3900000',
  balance: { ausd: '7', native: '500000000000000000' },
  blockNumber: '77',
}

export const history = {
  score: '520',
  cycleCount: 0,
  repayCount: 0,
  cyclesOpened: 0,
  defaulted: false,
  verifiedAt: null,
  firstSeenAt: null,
  cycles: [],
}

/** An entry of an activity list, so many minutes after the hour. */
export const entryAt = (minute: number, id: string, more: object = {}) => {
  const at = new Date(Date.UTC(2026, 10, 21, 6, minute)).toISOString()
  return {
    id,
    kind: 'topup',
    status: 'credited',
    inFlight: false,
    ausd: '1',
    createdAt: at,
    updatedAt: at,
    ...more,
  }
}
