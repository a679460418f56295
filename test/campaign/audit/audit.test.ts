import { describe, expect, test } from 'bun:test'
import type { Address, Hex } from 'viem'
import { type ChainFacts, chainRef, type Transfer, type UnderRef } from '../chain-facts'
import type { Evidence } from '../evidence'
import type { CampaignDeed } from '../record'
import { audit } from './audit'

const ana = '0x00000000000000000000000000000000000000a1' as Address
const budi = '0x00000000000000000000000000000000000000b2' as Address
const treasury = '0x00000000000000000000000000000000000000ee' as Address
const line = '0x00000000000000000000000000000000000000cc'
const friend = '0x00000000000000000000000000000000000000f1' as Address
const nobody = '0x0000000000000000000000000000000000000000'
const hash = (digit: number): Hex => `0x${String(digit).repeat(64)}`
const [takeNonce, sendNonce] = [hash(7), hash(8)]

type World = {
  deeds: CampaignDeed[]
  entries: { id: string; kind: string; status: string; wallet: Address }[]
  captured: number
  back: { status: string; amount: number }[]
  disputes: { status: string; amount: number; currency?: string }[]
  /** Status of the payment, and that of its row in the provider's list. */
  standing: { status: string; listed_status: string | null }
  payouts: { reference_id: string; status: string; amount: number }[]
  refs: Map<Hex, UnderRef>
  transfers: Transfer[]
  uses: Map<string, Hex[]>
  said: Map<Hex, { name: string; amountMicro: bigint; ref?: Hex }[]>
  frozen: Set<string>
  treasuryMicro: bigint
}

/** Returns a world with a top-up of 3 AUSD, a cash-out of 2 and a send of 1. */
function honest(): World {
  const ref = chainRef('pay_1')
  const added: UnderRef = { added: [3n], repaid: [], revoked: [], accounts: new Set([ana]) }
  return {
    deeds: [
      {
        kind: 'topup',
        wallet: ana,
        pair: 'USD/IDR',
        after: new Set(['paid']),
        answer: { id: 'pay_1', ausdMicro: 3n, fiatMinor: 50_000n },
      },
      {
        kind: 'cashout',
        wallet: ana,
        nonce: takeNonce,
        valueMicro: 2n,
        answer: { id: 'out_1', ausdMicro: 2n, fiatMinor: 32_000n },
      },
      {
        kind: 'send',
        wallet: ana,
        to: friend,
        nonce: sendNonce,
        valueMicro: 1n,
        answer: { id: 'snd_1' },
      },
    ],
    entries: [
      { id: 'pay_1', kind: 'topup', status: 'credited', wallet: ana },
      { id: 'out_1', kind: 'cashout', status: 'paid', wallet: ana },
      { id: 'snd_1', kind: 'send', status: 'sent', wallet: ana },
    ],
    captured: 50_000,
    back: [],
    disputes: [],
    standing: { status: 'SUCCEEDED', listed_status: null },
    payouts: [{ reference_id: 'out_1', status: 'SUCCEEDED', amount: 32_000 }],
    refs: new Map([[ref, added]]),
    transfers: [
      { from: nobody, to: treasury, valueMicro: 100n, hash: hash(1) },
      { from: treasury, to: line, valueMicro: 3n, hash: hash(2) },
      { from: ana, to: treasury, valueMicro: 2n, hash: hash(3) },
      { from: ana, to: friend, valueMicro: 1n, hash: hash(4) },
    ],
    uses: new Map([
      [`${ana} ${takeNonce}`, [hash(3)]],
      [`${ana} ${sendNonce}`, [hash(4)]],
    ]),
    said: new Map([[hash(2), [{ name: 'CollateralAdded', amountMicro: 3n, ref }]]]),
    frozen: new Set(),
    treasuryMicro: 99n,
  }
}

function evidenceOf(world: World): Evidence {
  const none: UnderRef = { added: [], repaid: [], revoked: [], accounts: new Set() }
  const chain: ChainFacts = {
    underRef: (ref) => world.refs.get(ref) ?? none,
    refs: new Set(world.refs.keys()),
    transfers: world.transfers,
    uses: (authorizer, nonce) => world.uses.get(`${authorizer} ${nonce}`) ?? [],
    frozen: world.frozen,
    treasuryMicro: world.treasuryMicro,
    inTransaction: (one) => world.said.get(one) ?? [],
  }
  const payment = {
    payment_id: 'py-1',
    session_reference_id: 'pay_1',
    currency: 'IDR',
    ...world.standing,
    captures: world.captured > 0 ? [{ capture_amount: world.captured }] : [],
  }
  const about = { of_payment: 'py-1', currency: 'IDR' }
  const refunds = world.back.map((one) => ({ ...about, ...one }))
  const chargebacks = world.disputes.map((one) => ({ ...about, ...one }))
  const book = { sessions: [{ reference_id: 'pay_1' }], payments: [payment], refunds }
  return {
    chain,
    treasury,
    deeds: world.deeds,
    entries: world.entries,
    book: { ...book, payouts: world.payouts, chargebacks },
  }
}

const foundIn = (spoil: (world: World) => void) => {
  const world = honest()
  spoil(world)
  return audit(evidenceOf(world))
}
const entry = (world: World, id: string) => world.entries.find((one) => one.id === id)!
const underPay = (world: World, change: Partial<UnderRef>) => {
  const ref = chainRef('pay_1')
  world.refs.set(ref, { ...world.refs.get(ref)!, ...change })
}

test('the audit of a correct world finds nothing and assigns every unit of its treasury', () => {
  const { findings, waiting, treasuryMovedMicro, treasuryExplainedMicro } = foundIn(() => {})
  expect({ findings, waiting }).toEqual({ findings: [], waiting: [] })
  expect(treasuryExplainedMicro).toBe(treasuryMovedMicro)
})

describe('the audit finds', () => {
  const changed: [string, (world: World) => void, RegExp][] = [
    ['a credit made twice', (w) => underPay(w, { added: [3n, 3n] }), /added 2 times/],
    ['a credit of another amount', (w) => underPay(w, { added: [4n] }), /has 4 instead of 3/],
    ['money that did not arrive', (w) => w.refs.clear(), /credited 3 too little/],
    ['a credit for another wallet', (w) => underPay(w, { accounts: new Set([budi]) }), /was credited to/],
    ['a credit without a payment', (w) => void Object.assign(w, { captured: 0 }), /was never paid/],
    [
      'a ref that no payment has',
      (w) => w.refs.set(hash(9), { added: [1n], repaid: [], revoked: [], accounts: new Set() }),
      /the contract has ref/,
    ],
    [
      'a refund after which the wallet is not frozen',
      (w) => void w.back.push({ status: 'SUCCEEDED', amount: 50_000 }),
      /not frozen/,
    ],
    [
      'a refund of a part after which the wallet is not frozen',
      (w) => void w.back.push({ status: 'SUCCEEDED', amount: 20_000 }),
      /owes 2 .* not frozen/,
    ],
    [
      'a refund of a part for which more was revoked',
      (w) => {
        w.back.push({ status: 'SUCCEEDED', amount: 20_000 })
        underPay(w, { revoked: [3n] })
      },
      /credited 1 too little/,
    ],
    [
      'a refund of a part after which nothing was credited',
      (w) => {
        w.back.push({ status: 'SUCCEEDED', amount: 20_000 })
        entry(w, 'pay_1').status = 'refunded'
      },
      /was paid and not credited/,
    ],
    [
      'a void after which the wallet is not frozen',
      (w) => void Object.assign(w.standing, { status: 'CANCELED' }),
      /owes 3 .* not frozen/,
    ],
    [
      'a payment reversed in the list alone after which the wallet is not frozen',
      (w) => void Object.assign(w.standing, { listed_status: 'REVERSED' }),
      /owes 3 .* not frozen/,
    ],
    [
      'a dispute in another currency that was taken for a small one',
      (w) => {
        w.disputes.push({ status: 'SUCCESS', amount: 3, currency: 'USD' })
        underPay(w, { revoked: [1n] })
      },
      /owes 2 .* not frozen/,
    ],
    [
      'a refund and a dispute of the same money, of which only one was counted',
      (w) => {
        w.back.push({ status: 'SUCCEEDED', amount: 50_000 })
        w.disputes.push({ status: 'SUCCESS', amount: 50_000 })
        underPay(w, { revoked: [3n] })
      },
      /owes 3 .* not frozen/,
    ],
    [
      'a revocation for a dispute that was won',
      (w) => {
        w.disputes.push({ status: 'REVERSED', amount: 50_000 })
        underPay(w, { revoked: [3n] })
      },
      /credited 3 too little/,
    ],
    [
      'a revocation for a refund that is pending',
      (w) => {
        w.back.push({ status: 'PENDING', amount: 50_000 })
        underPay(w, { revoked: [3n] })
      },
      /credited 3 too little/,
    ],
    [
      'a payment without an end',
      (w) => void Object.assign(entry(w, 'pay_1'), { status: 'paid' }),
      /was paid and not credited/,
    ],
    ['a payout announced twice', (w) => void w.payouts.push(w.payouts[0]!), /has 2 payouts of/],
    [
      'a payout without a request',
      (w) => void Object.assign(w.payouts[0]!, { reference_id: 'x' }),
      /is in no activity/,
    ],
    ['a payout of another amount', (w) => void Object.assign(w.payouts[0]!, { amount: 1 }), /paid 1 instead of 32000/],
    [
      'a cash-out that was paid and given back',
      (w) => w.uses.set(`${treasury} ${chainRef('return:out_1')}`, [hash(5)]),
      /was paid and returned/,
    ],
    [
      'a failed cash-out whose AUSD was taken',
      (w) => {
        entry(w, 'out_1').status = 'failed'
        w.payouts = []
      },
      /is not marked taken/,
    ],
    ['a send that did not move', (w) => void w.transfers.pop(), /is marked sent and is not/],
    ['a send that moved twice', (w) => void w.transfers.push(w.transfers[3]!), /moved 2 times/],
    ['an accepted request that is in no list', (w) => void w.entries.pop(), /is not in the activity/],
    [
      'AUSD that left the treasury for nothing',
      (w) => {
        w.transfers.push({ from: treasury, to: line, valueMicro: 5n, hash: hash(6) })
        w.treasuryMicro -= 5n
      },
      /belong to no item/,
    ],
    [
      'a treasury that holds less than it should',
      (w) => void Object.assign(w, { treasuryMicro: 98n }),
      /its transfers add up to/,
    ],
  ]
  test.each(changed)('%s', (_, spoil, words) => {
    const { findings } = foundIn(spoil)
    expect(findings.some((one) => words.test(one)) || findings).toBe(true)
  })
})

test.each([
  ['at once', [20_000]],
  ['in two refunds', [15_000, 5_000]],
])('the audit accepts a part that is refunded and revoked %s', (_how, amounts) => {
  const { findings, counted } = foundIn((world) => {
    for (const amount of amounts) world.back.push({ status: 'SUCCEEDED', amount })
    underPay(world, { revoked: [2n] })
    const ref = chainRef('pay_1')
    world.transfers.push({ from: line, to: treasury, valueMicro: 2n, hash: hash(5) })
    world.said.set(hash(5), [{ name: 'TopUpRevoked', amountMicro: 2n, ref }])
    world.treasuryMicro += 2n
  })
  expect(findings).toEqual([])
  expect(counted['payments reversed in part']).toBe(1)
})

test('the audit accepts a part refunded after its hold while the wallet is frozen', () => {
  const { findings, waiting } = foundIn((world) => {
    world.back.push({ status: 'SUCCEEDED', amount: 20_000 })
    entry(world, 'pay_1').status = 'review'
    world.frozen.add(ana)
  })
  expect(findings).toEqual([])
  expect(waiting.map(({ id }) => id)).toEqual(['pay_1'])
})

test('the audit accepts money refunded after its hold while the wallet is frozen', () => {
  const { findings, waiting } = foundIn((world) => {
    world.back.push({ status: 'SUCCEEDED', amount: 50_000 })
    world.frozen.add(ana)
  })
  expect(findings).toEqual([])
  expect(waiting.map(({ id }) => id)).toEqual(['pay_1'])
})

test('the audit accepts money that came back after its credit was revoked, in manual review', () => {
  const { findings, waiting } = foundIn((world) => {
    world.disputes.push({ status: 'REVERSED', amount: 50_000 })
    const [deed] = world.deeds
    if (deed?.kind === 'topup') deed.after.add('came back')
    entry(world, 'pay_1').status = 'review'
    underPay(world, { revoked: [3n] })
    const ref = chainRef('pay_1')
    world.transfers.push({ from: line, to: treasury, valueMicro: 3n, hash: hash(5) })
    world.said.set(hash(5), [{ name: 'TopUpRevoked', amountMicro: 3n, ref }])
    world.treasuryMicro += 3n
  })
  expect(findings).toEqual([])
  expect(waiting.map(({ id }) => id)).toEqual(['pay_1'])
})
