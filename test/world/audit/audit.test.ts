import { describe, expect, test } from 'bun:test'
import type { Address, Hex } from 'viem'
import {
  type ChainFacts,
  chainRef,
  type Freeze,
  type OfDebt,
  type RefEvent,
  type Transfer,
  type UnderRef,
} from '../chain-facts'
import { alwaysCalm, type Calm, type Entry, type Evidence, type Unfinished } from '../evidence'
import type { Outcome } from '../fates'
import { autoRepay, cashout, type PaymentPlan, send, settlement, topup } from '../people'
import type { CashoutDeed, Doubt, PaymentDeed, SendDeed, WorldDeed } from '../record'
import { audit } from './audit'
import { actsWithinMs } from './doubts'

const ana = '0x00000000000000000000000000000000000000a1' as Address
const budi = '0x00000000000000000000000000000000000000b2' as Address
const treasury = '0x00000000000000000000000000000000000000ee' as Address
const line = '0x00000000000000000000000000000000000000cc'
const friend = '0x00000000000000000000000000000000000000f1' as Address
const nobody = '0x0000000000000000000000000000000000000000'
const hash = (digit: number): Hex => `0x${String(digit).repeat(64)}`
const [takeNonce, sendNonce] = [hash(7), hash(8)]

/** Time in Unix ms at which each world was paid; the chain was read an hour later. */
const paidAtMs = 1_800_000_000_000
const knownAtMs = paidAtMs + actsWithinMs
const readAtMs = paidAtMs + 3_600_000

/** A calm that begins `afterMs` after the payment. */
const calm = (afterMs: number, lastsMs: number): Calm => ({
  fromMs: paidAtMs + afterMs,
  toMs: paidAtMs + afterMs + lastsMs,
})

type World = {
  deeds: WorldDeed[]
  entries: Entry[]
  captured: number
  /** Captured amount of a second payment of the checkout, `py-2`. */
  again: number
  back: { status: string; amount: number; of_payment?: string }[]
  disputes: { status: string; amount: number; currency?: string }[]
  /** Status of the payment, and that of its row in the provider's list. */
  standing: { status: string; listed_status: string | null }
  payouts: { reference_id: string; status: string; amount: number }[]
  refs: Map<Hex, UnderRef>
  transfers: Transfer[]
  uses: Map<string, Hex[]>
  said: Map<Hex, { name: string; amountMicro: bigint; ref?: Hex }[]>
  freezes: Freeze[]
  cancelled: Set<string>
  verified: Set<string>
  drawn: OfDebt[]
  autoRepaid: OfDebt[]
  wei: bigint
  /** AUSD (10⁻⁶) that Ana has in the end. */
  left: bigint
  treasuryMicro: bigint
  unfinished: Unfinished[]
  /** AUSD (10⁻⁶) that Ana owes by the services' rows. */
  owed: bigint
  published: { schema: string; id: string; subject: string }[]
  breaks: string[]
  calms: readonly Calm[]
  texts: { where: string; text: string }[]
  /** Reference and repetitions of refunds that we ordered. */
  ordered: { reference_id: string; replays: number }[]
}

const common = () => ({
  wallet: ana,
  fate: 'nothing',
  requires: { money: 'kept' } as Outcome,
  askedAtMs: paidAtMs,
  refused: null,
  isPlayed: false,
  refusedEvent: null,
})
const payment = ({ deeds }: World) => deeds[0] as PaymentDeed
const transfers = ({ deeds }: World) => deeds.slice(1, 3) as [CashoutDeed, SendDeed]

/** Returns a world with a top-up of 3 AUSD, a cash-out of 2 and a send of 1. */
function honest(): World {
  const ref = chainRef('pay_1')
  const given: RefEvent = { kind: 'given', micro: 3n, atMs: paidAtMs }
  const added: UnderRef = { added: [3n], repaid: [], revoked: [], accounts: new Set([ana]), history: [given] }
  return {
    deeds: [
      {
        ...common(),
        kind: 'topup',
        plan: topup(),
        pair: 'USD/IDR',
        doubts: [],
        answer: { id: 'pay_1', ausdMicro: 3n, fiatMinor: 50_000n },
      },
      {
        ...common(),
        kind: 'cashout',
        plan: cashout(),
        nonce: takeNonce,
        valueMicro: 2n,
        answer: { id: 'out_1', ausdMicro: 2n, fiatMinor: 32_000n },
      },
      {
        ...common(),
        kind: 'send',
        plan: send(),
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
    again: 0,
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
    freezes: [],
    cancelled: new Set(),
    verified: new Set(),
    drawn: [],
    autoRepaid: [],
    wei: 0n,
    left: 10n,
    treasuryMicro: 99n,
    unfinished: [],
    owed: 0n,
    published: [],
    breaks: [],
    calms: alwaysCalm,
    texts: [],
    ordered: [],
  }
}

function evidenceOf(world: World): Evidence {
  const none: UnderRef = { added: [], repaid: [], revoked: [], accounts: new Set(), history: [] }
  const chain: ChainFacts = {
    readAtMs,
    underRef: (ref) => world.refs.get(ref) ?? none,
    refs: new Set(world.refs.keys()),
    transfers: world.transfers,
    uses: (authorizer, nonce) => world.uses.get(`${authorizer} ${nonce}`) ?? [],
    freezes: world.freezes,
    isCancelled: (authorizer, nonce) => world.cancelled.has(`${authorizer} ${nonce}`),
    verified: world.verified,
    drawn: world.drawn,
    autoRepaid: world.autoRepaid,
    ausdMicro: () => world.left,
    wei: () => world.wei,
    treasuryMicro: world.treasuryMicro,
    inTransaction: (one) => world.said.get(one) ?? [],
  }
  const charge = {
    payment_id: 'py-1',
    session_reference_id: 'pay_1',
    currency: 'IDR',
    ...world.standing,
    captures: world.captured > 0 ? [{ capture_amount: world.captured }] : [],
  }
  const about = { of_payment: 'py-1', currency: 'IDR' }
  const back = world.back.map((one, at) => ({ ...about, id: `rfd_${at}`, ...one }))
  const refunds = [...back, ...world.ordered.map((one) => ({ status: 'FAILED', ...one }))]
  const chargebacks = world.disputes.map((one, at) => ({ ...about, id: `cbk_${at}`, ...one }))
  const others = world.deeds.slice(3).flatMap(({ answer }) => (answer ? [answer.id] : []))
  const sessions = ['pay_1', ...others].map((id) => ({ reference_id: id }))
  const charges = [charge, ...others.map((id) => ({ ...charge, payment_id: `py-${id}`, session_reference_id: id }))]
  if (world.again > 0) charges.push({ ...charge, payment_id: 'py-2', captures: [{ capture_amount: world.again }] })
  const book = { sessions, payments: charges, refunds }
  const stored = [{ stream: 'COMMANDS', id: 'msg_1', subject: 'relay.credit', text: '' }]
  return {
    chain,
    treasury,
    calms: world.calms,
    deeds: world.deeds,
    entries: world.entries,
    book: { ...book, payouts: world.payouts, chargebacks },
    database: {
      unfinished: world.unfinished,
      owed: new Map([[ana, world.owed]]),
      counted: new Map([['pay_1', 'py-1']]),
      published: world.published,
      stored,
      breaks: world.breaks,
    },
    written: { texts: world.texts, secrets: [{ name: 'TREASURY_KEY', text: '0xabcdef0123456789' }] },
  }
}

const foundIn = (spoil: (world: World) => void) => {
  const world = honest()
  spoil(world)
  return audit(evidenceOf(world))
}
const entry = (world: World, id: string) => world.entries.find((one) => one.id === id)!
/** Lets Ana draw 2 AUSD that are repaid automatically, once. */
const repayAutomatically = (world: World) => {
  world.deeds.push({ ...common(), isPlayed: true, kind: 'autorepay', plan: autoRepay('wallet', 2n), answer: null })
  world.drawn.push({ wallet: ana, micro: 2n, hash: hash(5) })
  world.autoRepaid.push({ wallet: ana, micro: 2n, hash: hash(6) })
  world.entries.push({ id: 'rep_1', kind: 'autorepay', status: 'repaid', wallet: ana, ausd: '2', txHash: hash(6) })
}
const underPay = (world: World, change: Partial<UnderRef>) => {
  const ref = chainRef('pay_1')
  world.refs.set(ref, { ...world.refs.get(ref)!, ...change })
}

const freeze = (world: World, atMs: number, frozen = true) => void world.freezes.push({ wallet: ana, frozen, atMs })
/** Plays the payment to its end. */
const played = (world: World, money: Outcome['money'], more: Partial<PaymentDeed> = {}) =>
  Object.assign(payment(world), { isPlayed: true, requires: { money }, ...more })
const doubtful = (world: World, change: Partial<Doubt> = {}) =>
  void payment(world).doubts.push({
    object: 'rfd_0',
    minor: 50_000n,
    fromMs: paidAtMs,
    goneMs: null,
    toMs: null,
    ...change,
  })
/** Holds the credit until a time. */
const held = (world: World, untilMs: number, atMs = paidAtMs) => {
  const ref = chainRef('pay_1')
  const { history } = world.refs.get(ref)!
  underPay(world, { history: [{ kind: 'held', untilMs, atMs }, ...history] })
}
const refundedWhileHeld = (world: World, untilMs = paidAtMs + 600_000, goneMs = paidAtMs) => {
  held(world, untilMs)
  world.back.push({ status: 'SUCCEEDED', amount: 50_000 })
  doubtful(world, { goneMs })
}
/** Takes the whole credit back, with its transfer to the treasury. */
const revoke = (world: World, micro = 3n, atMs = paidAtMs + 1_000) => {
  const ref = chainRef('pay_1')
  const { history } = world.refs.get(ref)!
  underPay(world, { revoked: [micro], history: [...history, { kind: 'revoked', micro, atMs }] })
  world.transfers.push({ from: line, to: treasury, valueMicro: micro, hash: hash(5) })
  world.said.set(hash(5), [{ name: 'TopUpRevoked', amountMicro: micro, ref }])
  world.treasuryMicro += micro
}
/** Adds a payment that gave nothing, because it repaid the loss of the first, whose money came back later. */
const repaidForUndone = (world: World) => {
  Object.assign(payment(world), { requires: { money: 'undone' } })
  const answer = { id: 'pay_2', ausdMicro: 3n, fiatMinor: 50_000n }
  world.deeds.push({ ...payment(world), requires: { money: 'kept' }, answer })
  world.entries.push({ id: 'pay_2', kind: 'topup', status: 'credited', wallet: ana })
}
/** Makes the payment a settlement that was paid another way. */
const settled = (world: World, pays: PaymentPlan['pays'], captured: number, repaid: bigint) => {
  Object.assign(payment(world), { kind: 'settlement', plan: settlement({ pays }) })
  Object.assign(entry(world, 'pay_1'), { kind: 'settlement', status: 'repaid' })
  Object.assign(world, { captured })
  underPay(world, { added: [], repaid: [repaid] })
}
/** Pays the checkout twice, and refunds one of its payments. */
const paidTwice = (world: World, refunded: 'py-1' | 'py-2', status: string) => {
  Object.assign(payment(world), { plan: topup({ pays: 'twice' }) })
  Object.assign(world, { again: 50_000 })
  world.back.push({ status: 'SUCCEEDED', amount: 50_000, of_payment: refunded })
  entry(world, 'pay_1').status = status
}
const failed = (world: World, id: 'out_1' | 'snd_1') => {
  entry(world, id).status = 'failed'
  world.uses.clear()
  world.payouts = []
  world.transfers = world.transfers.slice(0, 2)
  world.treasuryMicro = 97n
  world.deeds = world.deeds.filter(({ kind, answer }) => kind === 'topup' || answer?.id === id)
  world.entries = world.entries.filter((one) => one.id === 'pay_1' || one.id === id)
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
      (w) => w.refs.set(hash(9), { added: [1n], repaid: [], revoked: [], accounts: new Set(), history: [] }),
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
      'a refund within the hold that was not revoked although its wallet is frozen',
      (w) => {
        refundedWhileHeld(w)
        played(w, 'gone')
        entry(w, 'pay_1').status = 'review'
        freeze(w, paidAtMs + 1_000)
      },
      /went back 600 s before the end of its hold, and 3 was not revoked/,
    ],
    [
      'a refund within the hold of which too little was revoked',
      (w) => {
        refundedWhileHeld(w)
        played(w, 'gone')
        entry(w, 'pay_1').status = 'review'
        revoke(w, 1n)
        freeze(w, paidAtMs + 1_000)
      },
      /and 2 was not revoked/,
    ],
    [
      'a hold that was extended for a refund and ended without its revocation',
      (w) => {
        refundedWhileHeld(w, paidAtMs + 10_000)
        held(w, paidAtMs + 600_000, paidAtMs + 5_000)
        played(w, 'gone')
        freeze(w, paidAtMs + 1_000)
      },
      /before the end of its hold, and 3 was not revoked/,
    ],
    [
      'money that was free although it was going back',
      (w) => {
        doubtful(w)
        w.back.push({ status: 'SUCCEEDED', amount: 50_000 })
        freeze(w, knownAtMs + 60_000)
      },
      /had 3 free 45 s after its money was going back/,
    ],
    [
      'money that was free after the first long calm since it was going back',
      (w) => {
        doubtful(w)
        w.back.push({ status: 'SUCCEEDED', amount: 50_000 })
        w.calms = [calm(1_000, actsWithinMs - 1), calm(60_000, actsWithinMs)]
        freeze(w, paidAtMs + 60_000 + actsWithinMs + 1_000)
      },
      /had 3 free 105 s after its money was going back/,
    ],
    [
      'money that was credited free although its refund was known',
      (w) => {
        doubtful(w, { fromMs: paidAtMs - 600_000 })
        w.back.push({ status: 'SUCCEEDED', amount: 50_000 })
        freeze(w, paidAtMs + 2_000)
      },
      /had 3 free 600 s after/,
    ],
    [
      'money that was freed at the end of its hold while a dispute was open',
      (w) => {
        held(w, paidAtMs + 100_000)
        doubtful(w, { toMs: paidAtMs + 200_000 })
      },
      /had 3 free 101 s after/,
    ],
    [
      'a wallet that was freed while a dispute was open',
      (w) => {
        doubtful(w)
        freeze(w, paidAtMs + 1_000)
        freeze(w, paidAtMs + 20_000, false)
      },
      /had 3 free 45 s after/,
    ],
    [
      'a failed cash-out of a wallet that could pay',
      (w) => failed(w, 'out_1'),
      /out_1 failed although .* had 2 and its authorization was valid/,
    ],
    ['a failed send of a wallet that could pay', (w) => failed(w, 'snd_1'), /snd_1 failed although .* had 1/],
    [
      'a refusal that blames a wallet which could pay',
      (w) => {
        failed(w, 'out_1')
        Object.assign(transfers(w)[0], { answer: null, refused: 'balance_too_low' })
        w.entries.pop()
      },
      /a cashout was refused \(balance_too_low\) although/,
    ],
    [
      'a payment with an end that its fate does not allow',
      (w) => {
        played(w, 'gone', { fate: 'charged back' })
        entry(w, 'pay_1').status = 'credited'
      },
      /pay_1 ended as credited: "charged back" requires revoked or refunded or review/,
    ],
    [
      'a cash-out that the bank refused and that is said to be paid',
      (w) => {
        const [deed] = transfers(w)
        Object.assign(deed, { isPlayed: true, plan: cashout({ accountNumber: '999999' }) })
      },
      /out_1 ended as paid: "nothing" requires returned/,
    ],
    [
      'a fate that cannot take place',
      (w) => void Object.assign(payment(w), { fate: 'charged back', refusedEvent: 'no such payment' }),
      /pay_1: "charged back" cannot take place: no such payment/,
    ],
    [
      'a top-up of another amount that was credited',
      (w) => void Object.assign(w, { captured: 49_999 }),
      /was paid a wrong amount and has 3/,
    ],
    [
      'a settlement paid too much of which the excess was credited',
      (w) => settled(w, 'too much', 100_000, 6n),
      /was paid 100000 and has 6 instead of 3/,
    ],
    [
      'a settlement paid too little that repaid all',
      (w) => settled(w, 'too little', 25_000, 3n),
      /was paid 25000 and has 3 instead of 1/,
    ],
    [
      'a settlement paid too much that repaid nothing and is not in review',
      (w) => settled(w, 'too much', 50_001, 0n),
      /has 0 of 3 and is not in review/,
    ],
    [
      'a settlement paid twice that repaid twice',
      (w) => {
        settled(w, 'twice', 50_000, 6n)
        w.again = 50_000
      },
      /was paid twice and has 6 instead of 3/,
    ],
    [
      'a settlement paid twice that is not in review',
      (w) => {
        settled(w, 'twice', 50_000, 3n)
        w.again = 50_000
      },
      /was paid twice and is not in review/,
    ],
    [
      'a second payment that was refunded, and whose checkout did not stay paid',
      (w) => paidTwice(w, 'py-2', 'revoked'),
      /was paid twice and is not credited or repaid or review/,
    ],
    [
      'a second payment for whose refund the first was revoked',
      (w) => {
        paidTwice(w, 'py-2', 'review')
        revoke(w)
      },
      /credited 3 too little/,
    ],
    [
      'a second payment for whose refund the wallet owes',
      (w) => {
        paidTwice(w, 'py-2', 'credited')
        w.owed = 3n
      },
      /owes 0 for a reversal and the services recorded 3/,
    ],
    [
      'a refund of the first of two payments after which the wallet is not frozen',
      (w) => {
        paidTwice(w, 'py-1', 'review')
        w.owed = 3n
      },
      /owes 3 for a reversal and is not frozen/,
    ],
    [
      'a refund of the first of two payments after which nobody decides about the second',
      (w) => {
        paidTwice(w, 'py-1', 'credited')
        w.owed = 3n
        freeze(w, paidAtMs + 1_000)
      },
      /was paid twice and is not in review/,
    ],
    [
      'a refund order that the provider executed twice',
      (w) => {
        const one = { reference_id: 'ordered-pay_1_1', replays: 0 }
        w.ordered.push(one, one)
      },
      /made 2 refunds for ordered-pay_1_1/,
    ],
    [
      'a refund order that was repeated without looking',
      (w) => {
        w.ordered.push({ reference_id: 'ordered-pay_1_1', replays: 1 })
        Object.assign(payment(w), { requires: { money: 'gone', askedOnce: true } })
      },
      /ordered-pay_1_1 was requested 2 times/,
    ],
    [
      'an approved user who is not verified',
      (w) => {
        w.wei = 7n
        w.deeds.push({ ...common(), isPlayed: true, kind: 'verification', plan: drip, answer: null })
      },
      /was approved and is not verified/,
    ],
    [
      'a drip that was paid twice',
      (w) => {
        w.verified.add(ana)
        w.wei = 14n
        w.deeds.push({ ...common(), isPlayed: true, kind: 'verification', plan: drip, answer: null })
      },
      /got 14 wei instead of 7/,
    ],
    [
      'a debt that was not repaid automatically',
      (w) => {
        repayAutomatically(w)
        w.autoRepaid.pop()
        w.entries.pop()
      },
      /let 2 be repaid automatically, and 0 was/,
    ],
    [
      'a debt that was repaid automatically twice',
      (w) => {
        repayAutomatically(w)
        w.autoRepaid.push({ wallet: ana, micro: 2n, hash: hash(9) })
      },
      /let 2 be repaid automatically, and 4 was/,
    ],
    [
      'an automatic repayment that the activity does not have',
      (w) => {
        repayAutomatically(w)
        w.entries.pop()
      },
      /2 of .+ was repaid in 0x6+, which 0 items name/,
    ],
    [
      'an automatic repayment with another amount in the activity',
      (w) => {
        repayAutomatically(w)
        entry(w, 'rep_1').ausd = '3'
      },
      /rep_1 repaid 2 and is listed with 3/,
    ],
    [
      'an automatic repayment that is marked repaid and is not',
      (w) => {
        repayAutomatically(w)
        w.autoRepaid.pop()
      },
      /rep_1 is marked repaid and is not/,
    ],
    [
      'an automatic repayment that never ends',
      (w) => {
        repayAutomatically(w)
        entry(w, 'rep_1').status = 'repaying'
      },
      /rep_1 of .+ has not completed: repaying/,
    ],
    [
      'an order that is never finished',
      (w) => void w.unfinished.push({ what: 'take out_9', state: 'waiting', dueAt: new Date() }),
      /take out_9 is waiting$/,
    ],
    [
      'a promise without a deadline',
      (w) => void w.unfinished.push({ what: 'cash-out out_9', state: 'taking', dueAt: null }),
      /cash-out out_9 is taking, promised without a deadline/,
    ],
    [
      'a message that is in no stream',
      (w) => void w.published.push({ schema: 'payments', id: 'msg_2', subject: 'relay.credit' }),
      /payments published relay.credit msg_2, which is in no stream/,
    ],
    ['a difference in the books', (w) => void w.breaks.push('pay_9: 3 too little'), /own books: pay_9/],
    [
      'a loss of which the services recorded a part',
      (w) => {
        w.back.push({ status: 'SUCCEEDED', amount: 50_000 })
        freeze(w, paidAtMs + 1_000)
        w.owed = 2n
      },
      /owes 3 for a reversal and the services recorded 2/,
    ],
    [
      'a loss that was undone, for which the services recorded less than a later payment lost to it',
      (w) => {
        repaidForUndone(w)
        w.owed = -2n
      },
      /owes -3 for a reversal and the services recorded -2: pay_2/,
    ],
    [
      'a loss that was repaid and lost again, and of which the services recorded nothing',
      (w) => {
        w.back.push({ status: 'SUCCEEDED', amount: 50_000 })
        Object.assign(payment(w), { requires: { money: 'gone', cameBack: true } })
        freeze(w, paidAtMs + 1_000)
      },
      /owes 3 for a reversal and the services recorded 0/,
    ],
    [
      'a loss that the services recorded and that never was',
      (w) => void Object.assign(w, { owed: 1n }),
      /owes 0 for a reversal and the services recorded 1/,
    ],
    [
      'a cash-out of which a part was returned',
      (w) => {
        entry(w, 'out_1').status = 'returned'
        w.payouts = [{ ...w.payouts[0]!, status: 'FAILED' }]
        w.uses.set(`${treasury} ${chainRef('return:out_1')}`, [hash(5)])
        w.transfers.push({ from: treasury, to: ana, valueMicro: 1n, hash: hash(5) })
        w.treasuryMicro -= 1n
      },
      /out_1 of 2 was returned with 1/,
    ],
    [
      'a secret in a log',
      (w) => void w.texts.push({ where: 'log payments', text: 'key 0xabcdef0123456789' }),
      /log payments has TREASURY_KEY/,
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

const drip = { kind: 'verification', begins: false, dripWei: 7n } as const

describe('the audit accepts', () => {
  const right: [string, (world: World) => void][] = [
    ['a debt that was repaid automatically', repayAutomatically],
    [
      'a refund within the hold that was revoked',
      (w) => {
        refundedWhileHeld(w)
        played(w, 'gone')
        entry(w, 'pay_1').status = 'revoked'
        revoke(w)
      },
    ],
    [
      'a refund too shortly before the end of the hold, after which the wallet is frozen',
      (w) => {
        refundedWhileHeld(w, knownAtMs - 1_000)
        w.owed = 3n
        played(w, 'gone')
        entry(w, 'pay_1').status = 'review'
        freeze(w, paidAtMs + 1_000)
      },
    ],
    [
      'a dispute during which the wallet was frozen, and that was dropped',
      (w) => {
        doubtful(w, { object: 'cbk_0', toMs: knownAtMs + 60_000 })
        freeze(w, paidAtMs + 30_000)
        freeze(w, knownAtMs + 70_000, false)
      },
    ],
    [
      'a refund that ended while no calm was long enough, and that froze the wallet in the next',
      (w) => {
        doubtful(w)
        w.back.push({ status: 'SUCCEEDED', amount: 50_000 })
        w.owed = 3n
        w.calms = [calm(0, actsWithinMs - 1), calm(300_000, actsWithinMs)]
        entry(w, 'pay_1').status = 'review'
        freeze(w, paidAtMs + 310_000)
      },
    ],
    [
      'a loss that was undone after a later payment had repaid it',
      (w) => {
        repaidForUndone(w)
        w.owed = -3n
      },
    ],
    [
      'a payment of a wrong amount that went back twice, at the rate of its promise',
      (w) => {
        Object.assign(payment(w), { answer: { id: 'pay_1', ausdMicro: 3_000_000n, fiatMinor: 50_000n } })
        Object.assign(w, { captured: 49_999, owed: 2_999_940n, treasuryMicro: 102n })
        w.back.push({ status: 'SUCCEEDED', amount: 49_999 }, { status: 'SUCCEEDED', amount: 49_999 })
        entry(w, 'pay_1').status = 'review'
        w.refs.clear()
        w.said.clear()
        w.transfers.splice(1, 1)
        freeze(w, paidAtMs + 1_000)
      },
    ],
    [
      'a dispute that was lost after the end of its hold, when only a freeze was left',
      (w) => {
        const endMs = paidAtMs + 600_000
        refundedWhileHeld(w, endMs, endMs - actsWithinMs)
        played(w, 'gone')
        entry(w, 'pay_1').status = 'review'
        w.owed = 3n
        freeze(w, endMs - 1_000)
      },
    ],
    ['a dispute that was dropped before the services had to know', (w) => doubtful(w, { toMs: knownAtMs - 1 })],
    [
      'a wallet that was free again once a later payment had covered its loss',
      (w) => {
        doubtful(w)
        w.back.push({ status: 'SUCCEEDED', amount: 50_000 })
        freeze(w, paidAtMs + 1_000)
        freeze(w, paidAtMs + 20_000, false)
        const answer = { id: 'pay_2', ausdMicro: 3n, fiatMinor: 50_000n }
        w.deeds.push({ ...payment(w), doubts: [], answer })
        w.entries.push({ id: 'pay_2', kind: 'topup', status: 'credited', wallet: ana })
      },
    ],
    [
      'a wallet that was free again once a payment whose own refund had failed before had covered its loss',
      (w) => {
        doubtful(w)
        w.back.push({ status: 'SUCCEEDED', amount: 50_000 })
        freeze(w, paidAtMs + 1_000)
        freeze(w, paidAtMs + 20_000, false)
        const answer = { id: 'pay_2', ausdMicro: 5n, fiatMinor: 50_000n }
        const failed = { object: 'rfd_9', minor: 50_000n, fromMs: paidAtMs, goneMs: null, toMs: paidAtMs + 5_000 }
        w.deeds.push({ ...payment(w), doubts: [failed], answer })
        w.entries.push({ id: 'pay_2', kind: 'topup', status: 'credited', wallet: ana })
        const ref = chainRef('pay_2')
        const history: UnderRef['history'] = [{ kind: 'given', micro: 2n, atMs: paidAtMs + 10_000 }]
        w.refs.set(ref, { added: [2n], repaid: [], revoked: [], accounts: new Set([ana]), history })
        w.transfers.push({ from: treasury, to: line, valueMicro: 2n, hash: hash(6) })
        w.said.set(hash(6), [{ name: 'CollateralAdded', amountMicro: 2n, ref }])
        w.treasuryMicro -= 2n
      },
    ],
    [
      'a second payment that was refunded while its wallet was free',
      (w) => {
        paidTwice(w, 'py-2', 'credited')
        doubtful(w)
      },
    ],
    [
      'a refund of the first of two payments, after which the wallet is frozen',
      (w) => {
        paidTwice(w, 'py-1', 'review')
        w.owed = 3n
        freeze(w, paidAtMs + 1_000)
      },
    ],
    [
      'a second payment of another amount, in review',
      (w) => {
        paidTwice(w, 'py-2', 'review')
        Object.assign(w, { again: 49_999, back: [] })
      },
    ],
    [
      'a refund of the first of two payments that was revoked',
      (w) => {
        paidTwice(w, 'py-1', 'review')
        revoke(w)
      },
    ],
    [
      'a failed cash-out that its user cancelled',
      (w) => {
        failed(w, 'out_1')
        w.cancelled.add(`${ana} ${takeNonce}`)
      },
    ],
    [
      'a failed cash-out of a wallet that had less before',
      (w) => {
        failed(w, 'out_1')
        w.transfers.push({ from: friend, to: ana, valueMicro: 9n, hash: hash(6) })
      },
    ],
    [
      'a failed send of a frozen wallet',
      (w) => {
        failed(w, 'snd_1')
        freeze(w, paidAtMs + 1_000)
      },
    ],
    [
      'an approved user who got native coin once',
      (w) => {
        w.verified.add(ana)
        w.wei = 7n
        w.deeds.push({ ...common(), isPlayed: true, kind: 'verification', plan: drip, answer: null })
      },
    ],
  ]
  test.each(right)('%s', (_, change) => {
    expect(foundIn(change).findings).toEqual([])
  })
})

test('a settlement paid too much repays its debt, and the rest waits for an operator', () => {
  const { findings, waiting } = foundIn((world) => {
    settled(world, 'too much', 50_001, 3n)
    entry(world, 'pay_1').status = 'review'
    const [[, said] = []] = [...world.said]
    Object.assign(said![0]!, { name: 'Repaid' })
  })
  expect(findings).toEqual([])
  expect(waiting.map(({ id }) => id)).toEqual(['pay_1'])
})

test('a difference in the books that names an item in manual review is expected', () => {
  const { findings } = foundIn((world) => {
    world.back.push({ status: 'SUCCEEDED', amount: 50_000 })
    world.owed = 3n
    freeze(world, paidAtMs + 1_000)
    world.breaks.push('pay_1: the provider has 50000 less')
  })
  expect(findings).toEqual([])
})

test('an account of the books that losses have overdrawn, which wallets repaid and which were undone, is found', () => {
  const { findings } = foundIn((w) => {
    repaidForUndone(w)
    w.owed = -3n
    w.breaks.push('account_side clawback -3 AUSD: the balance of clawback is -3')
  })
  expect(findings).toEqual([expect.stringMatching(/own books: account_side clawback -3/)])
})

describe('an account in ringgit that the books show as overdrawn', () => {
  const overdrawn = (minor: number) => {
    const world = honest()
    world.disputes.push({ status: 'SUCCESS', amount: 600, currency: 'MYR' })
    world.captured = 500
    world.owed = 4n
    world.breaks.push(`account_side provider_my ${minor} MYR: the balance of provider_my is ${minor}`)
    freeze(world, paidAtMs + 1_000)
    const evidence = evidenceOf(world)
    const [charge] = evidence.book.payments!
    charge.currency = 'MYR'
    return audit(evidence).findings
  }
  test('is expected if a dispute took more than was paid', () => expect(overdrawn(-10_000)).toEqual([]))
  test('is found if it differs from the provider', () => {
    expect(overdrawn(-10_001)).toEqual([expect.stringMatching(/own books: account_side provider_my -10001/)])
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
    world.owed = 2n
    entry(world, 'pay_1').status = 'review'
    freeze(world, paidAtMs + 1_000)
  })
  expect(findings).toEqual([])
  expect(waiting.map(({ id }) => id)).toEqual(['pay_1'])
})

test('the audit accepts money refunded after its hold while the wallet is frozen', () => {
  const { findings, waiting } = foundIn((world) => {
    world.back.push({ status: 'SUCCEEDED', amount: 50_000 })
    world.owed = 3n
    freeze(world, paidAtMs + 1_000)
  })
  expect(findings).toEqual([])
  expect(waiting.map(({ id }) => id)).toEqual(['pay_1'])
})

test('the audit accepts money that came back after its credit was revoked, in manual review', () => {
  const { findings, waiting } = foundIn((world) => {
    world.disputes.push({ status: 'REVERSED', amount: 50_000 })
    Object.assign(payment(world), { requires: { money: 'undone' } })
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
