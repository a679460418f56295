import { exampleAuthorization as authorization } from '#shared/api/money'

export const quoteId = '7f9c24e8-3b1a-8d52-9e0f-1c2d3e4f5a6b'
export const bank = {
  channelCode: 'ID_BCA',
  accountNumber: '1234567890',
  accountHolderName: 'Sari Dewi',
}

export const goodBodies = {
  '/quote': { pair: 'USD/IDR' },
  '/me/country': { country: 'MY' },
  '/topups': { amount: '50000', method: 'qr', quoteId },
  '/settlements': { quoteId },
  '/cashouts': { quoteId, authorization, bank },
  '/cashouts/check': { bank },
  '/sends': { authorization },
} as const
export type BodyPath = keyof typeof goodBodies

/** Returns the body with another value at `path`; `undefined` removes the value. */
export function spoilt(body: object, path: string, value: unknown): Record<string, unknown> {
  const copy = structuredClone(body) as Record<string, unknown>
  const keys = path.split('.')
  const last = keys.pop()!
  const holder = keys.reduce((at, key) => at[key] as Record<string, unknown>, copy)
  if (value === undefined) delete holder[last]
  else Object.defineProperty(holder, last, { value, enumerable: true, configurable: true })
  return copy
}

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
    pendingShares: '5000000',
    pendingValue: '5',
    pendingUntil: '1795244460',
  },
  limit: '8200000',
  drawn: '1200000',
  encumbered: '3000000',
  encumberedUntil: '1795244470',
  available: '3900000',
  balance: { ausd: '7', native: '500000000000000000' },
  cycle: { number: 4, openedAt: '1795244400', dueAt: '1797836400', defaultsAt: '1798441200' },
  paused: false,
  blockNumber: '77',
  blockTime: '1795244400',
}

export const history = {
  score: '520',
  cycleCount: 3,
  repayCount: 3,
  cyclesOpened: 4,
  defaulted: false,
  verifiedAt: '1795244400',
  firstSeenAt: '1795244400',
  cycles: [],
}

export const entryAt = (minute: number, id: string, more: object = {}) => {
  const at = new Date(Date.UTC(2026, 10, 21, 6, minute)).toISOString()
  return {
    id,
    kind: 'topup',
    status: 'credited',
    inFlight: false,
    nextAction: null,
    sentence: 'It is part of your collateral.',
    ausd: '1',
    createdAt: at,
    updatedAt: at,
    ...more,
  }
}

const token = `0x${'a5'.repeat(20)}` as const

export const chainTerms = {
  chainId: 10143,
  ausd: {
    address: token,
    decimals: 6,
    domain: { name: 'Agora Dollar', version: '1', chainId: 10143, verifyingContract: token },
  },
  creditLine: token,
  treasury: token,
  holdSeconds: 60,
  initialRatioBps: '8000',
  cycle: { minSeconds: 1, minDebt: '1', termSeconds: 2, graceSeconds: 3 },
  sendValidBeforeSecondsMin: 61,
  gasLimits: {
    draw: '400000',
    repay: '225000',
    repayWithPermit: '305000',
    repayFromCollateral: '350000',
    withdrawCollateral: '325000',
  },
}
