import { describe, expect, test } from 'bun:test'
import { refOf } from '#shared/chain/ref'
import { idFor } from '#shared/ids'
import { findPaid } from './erased'
import { findPayments } from './lost-payments'
import { findPayouts, findReturns } from './lost-payouts'
import type { World } from './world'

const quoteId = '7f9c24e8-3b1a-8d52-9e0f-1c2d3e4f5a6b'
const id = idFor('payment', quoteId)
const payoutId = '0f9c24e8-3b1a-8d52-9e0f-1c2d3e4f5a6b'
const [wallet, treasury] = [`0x${'a'.repeat(40)}`, `0x${'4'.repeat(40)}`] as const
const nonce = `0x${'9'.repeat(64)}` as const
const hash = `0x${'7'.repeat(64)}` as const
const at = new Date('2026-11-22T01:30:00Z')

/** Metadata at the provider, as checkouts and payouts have it. */
const words = {
  kind: 'topup',
  method: 'qr',
  wallet,
  quote_id: quoteId,
  request_fingerprint: 'somebody',
  rate: '16250',
  ausd: '3076923',
}
const session = (metadata: Record<string, string> | null) => ({
  payment_session_id: 'ps-1',
  reference_id: id,
  currency: 'IDR',
  metadata,
  amount: { decimal: '50000' },
  expires_at: at.toISOString(),
  created: at.toISOString(),
})
const payout = (metadata: Record<string, string> | null, status = 'ACCEPTED') => ({
  id: 'disb-1',
  reference_id: payoutId,
  amount: { decimal: '81250' },
  currency: 'IDR',
  status,
  channel_code: 'ID_BCA',
  created: at.toISOString(),
  metadata,
})
const authorization = {
  from: wallet,
  to: treasury,
  value: '5000000',
  validAfter: '0',
  validBefore: '99',
  nonce,
  signature: '0x12' as const,
}
const laneWith = (...actions: object[]) =>
  [{ hash, nonce: 7, actions: actions.map((action) => ({ ...action, done: true })) }] as never

const promiseOf = (ausd_micro: bigint, topup_fees: string | null = null) => ({
  currency: 'IDR' as const,
  fiat_minor: 50_000n,
  rate_minor_per_usd: 16_250n,
  ausd_micro,
  topup_fees,
  account: 'ID' as const,
  kind: 'topup' as const,
  state: 'expired',
  provider_payment_id: null as string | null,
  paid_minor: null as bigint | null,
})

const worldOf = (
  given: {
    session?: ReturnType<typeof session>
    payouts?: ReturnType<typeof payout>[]
    bus?: object
    lanes?: World['lanes']
    giveBack?: string[]
    openings?: [string, string][]
    listed?: World['listed']
  } = {},
): World => ({
  known: {
    payments: new Set(),
    uncredited: new Map(),
    refs: new Map(),
    payouts: new Set(),
    unreturned: new Set(),
    cashoutStates: new Map(),
    openCashouts: new Map(),
    openings: new Map(given.openings),
    takes: new Map(),
    returns: new Map(),
    givebacks: new Map(),
    asked: new Set(),
    dripped: new Set(),
    frozen: new Set(),
    lanes: [],
    signed: new Set(),
    openFrom: new Map(),
    identityProvider: undefined,
    rateMinorPerUsd: 16_000n,
  },
  bus: {
    since: at,
    checkouts: new Map(),
    orders: new Map(),
    takes: new Map(),
    returns: new Map(),
    takenMinor: new Map(),
    verifies: [],
    freezes: [],
    drips: [],
    erased: new Map(),
    ...given.bus,
  },
  provider: {
    list: async () => [],
    checkout: async () => given.session,
    payment: async (_, payment_id) => ({ payment_id, channel_code: 'QRIS', created: at.toISOString() }),
    payoutsOf: async () => given.payouts ?? [],
  },
  lanes: given.lanes ?? [],
  listed: given.listed ?? [],
  treasury,
  checkouts: [],
  giveBack: given.giveBack ?? [],
})

const paid: World['listed'] = [
  {
    transactionId: 'txn-1',
    type: 'payment',
    status: 'succeeded',
    productId: 'py-1',
    paymentRequestId: null,
    reference: `${id}_1f2e-1`,
    channel: null,
    currency: 'IDR',
    cashflow: null,
    amountMinor: 50_000n,
    feeMinor: null,
    settlement: null,
    settlesAt: null,
    created: at,
    updated: at,
    account: 'ID',
  },
]
const checkouts = new Map([[id, { account: 'ID', checkoutId: 'ps-1' }]])
const credit = { does: 'credit', ref: refOf(id), wallet, ausdMicro: 3_000_000n, held: true }
const order = { refId: id, wallet, ausd: '3000000', held: false, kind: 'credit' }

describe('a payment without a row', () => {
  test.each([
    [
      'is restored from the promise in its checkout',
      { session: session(words), bus: { checkouts } },
      [`expired 3076923`],
    ],
    ['is restored from the chain if its checkout is unknown', { lanes: laneWith(credit) }, ['paid 3000000']],
    [
      'is restored from its order if the chain has no effect yet',
      { bus: { orders: new Map([[id, order]]) } },
      ['paid 3000000'],
    ],
    ['needs a decision if its owner is unknown', {}, []],
    [
      'is not restored from the checkout of another quote',
      { session: session({ ...words, quote_id: payoutId }), bus: { checkouts } },
      [],
    ],
    ['is not restored from a checkout without metadata', { session: session(null), bus: { checkouts } }, []],
  ] as [string, Parameters<typeof worldOf>[0], string[]][])('a payment without a row %s', async (_, given, rows) => {
    const found = await findPayments(worldOf({ ...given, listed: paid }))
    expect(found.rows.map((row) => `${row.state} ${row.ausd_micro}`)).toEqual(rows)
    expect(found.rows.every((row) => row.wallet === wallet)).toBe(true)
    expect(found.undecided).toHaveLength(rows.length === 0 ? 1 : 0)
  })
})

// Rp 50,000 at Rp 16,250, less Rp 350 by QR or Rp 3,830 by card.
const fees = 'qr=0+70,card=2220+322'
const feeWords = { fee_qr: '0+70', fee_card: '2220+322' }
const afterFee = { fee_minor: 350n, ausd_micro: 3_055_384n, promised_micro: 3_076_923n }

describe('a top-up with fees whose credit is on the chain', () => {
  const lanes = laneWith({ ...credit, ausdMicro: 3_055_384n })
  const charged = { ...afterFee, state: 'paid', onchain_micro: 3_055_384n }

  test('is restored without a row by the fee that explains the credit', async () => {
    const given = { session: session({ ...words, ...feeWords }), bus: { checkouts }, lanes }
    const found = await findPayments(worldOf({ ...given, listed: paid }))
    expect(found.rows).toMatchObject([{ ...charged, topup_fees: fees, fiat_minor: 50_000n }])
    expect(found.undecided).toEqual([])
  })

  test('is restored from an older row by the fee that explains the credit', async () => {
    const of = worldOf({ listed: paid, lanes })
    const uncredited = new Map([[id, promiseOf(3_076_923n, fees)]])
    const found = await findPayments({ ...of, known: { ...of.known, payments: new Set([id]), uncredited } })
    expect(found.paid.map(({ facts }) => facts)).toMatchObject([charged])
    expect(found.undecided).toEqual([])
  })

  test('needs a decision if no fee explains the credit', async () => {
    const given = { session: session({ ...words, ...feeWords }), bus: { checkouts }, lanes: laneWith(credit) }
    const found = await findPayments(worldOf({ ...given, listed: paid }))
    expect(found.rows).toMatchObject([{ ausd_micro: 3_076_923n, onchain_micro: 3_000_000n }])
    expect(found.undecided).toHaveLength(1)
  })
})

describe('a payment whose row is older than its effect on chain', () => {
  const world = (promised: bigint | undefined, lanes: World['lanes']) => {
    const of = worldOf({ listed: paid, lanes })
    const uncredited = new Map(promised === undefined ? [] : [[id, promiseOf(promised)]])
    return { ...of, known: { ...of.known, payments: new Set([id]), uncredited } }
  }
  test.each([
    ['takes the amount from the chain', 3_000_000n, laneWith(credit), [3_000_000n], 0],
    ['needs a decision if that differs from the promise', 3_076_923n, laneWith(credit), [3_000_000n], 1],
    ['stays unchanged without an effect on chain', 3_000_000n, laneWith(), [], 0],
    ['stays unchanged if it has its credit', undefined, laneWith(credit), [], 0],
  ] as const)(
    'a payment whose row is older than its effect on chain %s',
    async (_, promised, lanes, paidMicro, asked) => {
      const found = await findPayments(world(promised, lanes))
      expect(found.rows).toEqual([])
      expect(found.paid.map(({ facts }) => facts.onchain_micro)).toEqual([...paidMicro])
      expect(found.undecided).toHaveLength(asked)
    },
  )
})

describe('a payment whose charge is known and whose row is older than its effect on chain', () => {
  const second = { ...paid[0]!, transactionId: 'txn-2', productId: 'py-2' }
  const known = { account: 'ID' as const, state: 'expired', provider_payment_id: 'py-1', paid_minor: 50_000n }
  const world = (listed: World['listed'], promise = { ...promiseOf(3_000_000n), ...known }) => {
    const of = worldOf({ listed, lanes: laneWith(credit) })
    return { ...of, known: { ...of.known, payments: new Set([id]), uncredited: new Map([[id, promise]]) } }
  }
  // guard: a restore keeps the charge of a payment whose charge is known
  test.each([
    ['keeps its charge, also if a second one is listed before it', [second, paid[0]!]],
    ['keeps its charge, also if only a second one is listed', [second]],
    ['is found although its charge is not listed any more', []],
  ] as [string, World['listed']][])('%s', async (_, listed) => {
    const found = await findPayments(world(listed))
    expect(found.paid).toMatchObject([{ id, facts: { provider_payment_id: 'py-1', paid_minor: 50_000n } }])
    expect([found.rows, found.undecided]).toEqual([[], []])
  })

  test('stays unchanged while its order is repeated anyway', async () => {
    const ordered = { ...promiseOf(3_000_000n), ...known, state: 'paid' }
    expect((await findPayments(world(paid, ordered))).paid).toEqual([])
  })
})

test('of a settlement that was paid with too much, the rest is restored beside the part that repaid the debt', async () => {
  const repay = { does: 'repay', ref: refOf(id), wallet, ausdMicro: 3_076_923n, held: false, paidAt: 0n }
  const given = { session: session({ ...words, kind: 'settlement' }), bus: { checkouts }, lanes: laneWith(repay) }
  const found = await findPayments(worldOf({ ...given, listed: [{ ...paid[0]!, amountMinor: 50_700n }] }))
  expect(found.rows).toMatchObject([{ fiat_minor: 50_000n, paid_minor: 50_000n, overpaid_minor: 700n }])
  expect(found.undecided).toEqual([])
})

describe('a cash-out without a row, or with one from before it was accepted,', () => {
  const promised = { ...words, ausd: '5000000', authorization_nonce: nonce }
  const ordered: World['listed'] = [{ ...paid[0]!, type: 'payout', reference: payoutId, productId: 'disb-1' }]
  const takes = new Map([[payoutId, authorization]])
  const taken = laneWith({ does: 'move', authorization })
  test.each([
    [
      'is restored as paying if the provider has it',
      { payouts: [payout(promised)], listed: ordered, lanes: taken },
      ['paying 81250'],
      0,
    ],
    [
      'is restored as paying if only the bus knows its owner',
      { payouts: [payout(null)], listed: ordered, lanes: taken, bus: { takes } },
      ['paying 81250'],
      0,
    ],
    ['is returned if it was taken but not ordered', { lanes: taken, bus: { takes } }, ['returning 80000'], 0],
    [
      'is returned at the rupiah amount of its event',
      { lanes: taken, bus: { takes, takenMinor: new Map([[payoutId, 81_250n]]) } },
      ['returning 81250'],
      0,
    ],
    ['is restored as failed if it was not taken', { bus: { takes } }, ['failed 80000'], 0],
    [
      'is returned if it was taken and only its early row is known',
      { lanes: taken, openings: [[`${wallet}:${nonce}`, payoutId]] },
      ['returning 80000'],
      0,
    ],
    [
      'stays as it is if it has an early row and nothing more is known',
      { openings: [[`${wallet}:${nonce}`, payoutId]] },
      [],
      0,
    ],
    [
      'needs a decision if its payout has no metadata and the bus is lost',
      { payouts: [payout(null)], listed: ordered, lanes: taken },
      [],
      2,
    ],
    [
      'needs a decision if the provider has two payouts',
      { payouts: [payout(promised), payout(promised)], listed: ordered, lanes: taken },
      [],
      2,
    ],
    [
      'is not returned if the provider lists a payout that no look-up finds',
      { listed: ordered, lanes: taken, bus: { takes } },
      [],
      2,
    ],
    ['needs a decision if its take has no known cash-out', { lanes: taken }, [], 1],
    ['is returned if the operator decides so', { lanes: taken, giveBack: [hash] }, ['returning 80000'], 0],
  ] as [string, Parameters<typeof worldOf>[0], string[], number][])(
    'a cash-out without a row, or with a row from before it was accepted, %s',
    async (_, given, rows, asked) => {
      const found = await findPayouts(worldOf(given))
      expect(found.rows.map((row) => `${row.state} ${row.fiatMinor}`)).toEqual(rows)
      expect(found.undecided).toHaveLength(asked)
    },
  )
})

// guard: AUSD of a cash-out that a bank was paid for since the backup is not returned after a restore
test.each([
  ['is returned if the provider has no payout of it', [], { returns: [payoutId], dropped: [] }],
  ['is returned if its payout has failed', ['FAILED', 'REVERSED'], { returns: [payoutId], dropped: [] }],
  ['is not returned if its payout may reach the bank', ['FAILED', 'ACCEPTED'], { returns: [], dropped: [payoutId] }],
  ['is not returned if its payout has reached the bank', ['SUCCEEDED'], { returns: [], dropped: [payoutId] }],
] as const)(
  'a present cash-out whose return was ordered since the backup %s',
  async (_, statuses, { returns, dropped }) => {
    const orders = [payoutId, 'returned', 'without a row'].map((id) => [id, [`order of ${id}`]] as const)
    const world = worldOf({
      payouts: statuses.map((status) => payout(null, status)),
      bus: { returns: new Map(orders) },
    })
    const found = await findReturns({ ...world, known: { ...world.known, unreturned: new Set([payoutId, 'taken']) } })
    expect(found.returns).toEqual([...returns])
    expect(found.dropped).toEqual(dropped.map((id) => ({ id, messageIds: [`order of ${id}`] })))
    expect(found.undecided).toHaveLength(dropped.length)
  },
)

describe('an open cash-out of an erased wallet', () => {
  test.each([
    ['is paid if the provider has paid it', ['SUCCEEDED'], [payoutId]],
    ['is paid if one of its two payouts was paid', ['FAILED', 'SUCCEEDED'], [payoutId]],
    ['is not paid if the bank refused it', ['FAILED'], []],
    ['is not paid if the bank returned the money', ['REVERSED'], []],
    ['is not paid if the provider has an unfinished payout', ['ACCEPTED'], []],
    ['is not paid if the provider has no payout', [], []],
  ])('%s', async (_, statuses, paidIds) => {
    const { provider } = worldOf({ payouts: statuses.map((status) => payout(null, status)) })
    const open = new Map([[payoutId, wallet]])
    expect(await findPaid(new Map([[wallet, at]]), open, provider)).toEqual(paidIds)
    expect(await findPaid(new Map([[treasury, at]]), open, provider)).toEqual([])
  })
})
