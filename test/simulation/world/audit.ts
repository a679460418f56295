import type { Hex } from 'viem'
import type { Payment } from '#infra/sandbox/records'
import { difference } from '#shared/ledger/position'
import type { QuotedTopupFees } from '#shared/money/topup-fee'
import { endsOf } from '#test/world/fates'
import { messaging } from '../../../services/chain-relayer/schema.store'
import { gatewayMessaging } from '../../../services/gateway/schema.store'
import { positionOf as positionOfPayment } from '../../../services/payments/ledger/position'
import { backOf } from '../../../services/payments/losses/report'
import { atLeastZero, mayBeOnHold, refIdOf } from '../../../services/payments/payment'
import type { PaymentRow } from '../../../services/payments/payment.table'
import { journal as paymentsJournal, outbox as paymentsOutbox } from '../../../services/payments/schema.store'
import { stanceOf } from '../../../services/payments/stance'
import type { Cashout } from '../../../services/payouts/cashout.table'
import { positionOf as positionOfCashout } from '../../../services/payouts/ledger/position'
import { journal as payoutsJournal, outbox as payoutsOutbox } from '../../../services/payouts/schema.store'
import type { Applied } from '../chain/contract'
import { bookedOf, totalsOf } from '../rows/journal'
import { auditAutoRepayments, auditLanes } from './auto-repayments'
import { isCancelled, isPaid, orderedMinorOf, payoutsOf, referenceOf, refundedOf } from './charges'
import { auditOrders } from './orders'
import { auditOwed } from './owed'
import { refOf } from './refs'
import { laneAddresses } from './relayer'
import type { Surroundings } from './services'
import { treasury } from './wallets'

const outboxes = [paymentsOutbox, payoutsOutbox, messaging.outbox, gatewayMessaging.outbox]

export type Finding = string

export function audit(around: Surroundings): Finding[] {
  const findings: Finding[] = [...around.world.rows.unknown].map(
    (place) => `no stand-in in test/simulation/rows for a statement: ${place}`,
  )
  for (const bug of around.world.bugs) findings.push(`a service threw ${bug}`)
  const { rows } = around.world
  for (const [id, { fate, refusedEvent }] of around.fates)
    if (refusedEvent && !isDecided(around, ownIdOf(around, id)))
      findings.push(`${id}: "${fate.name}" cannot take place: ${refusedEvent}`)
  for (const row of rows.payments.values()) findings.push(...auditPayment(around, row))
  for (const row of rows.cashouts.values()) findings.push(...auditCashout(around, row))
  findings.push(...auditMoney(around), ...auditSums(around), ...auditRelayer(around), ...auditOrders(around))
  findings.push(...auditMessages(around), ...auditAutoRepayments(around), ...auditLanes(around))
  return findings
}

/** Returns our id of what a fate befalls: of a payment at the provider, or of a cash-out. */
function ownIdOf({ provider: { book } }: Surroundings, id: string): string {
  const payment = book.get('payments', id)
  return payment ? referenceOf(book, payment) : id
}

/** Returns true if an operator has decided about a payment, whose money may be back already. */
const isDecided = ({ world }: Surroundings, id: string): boolean => world.rows.resolutions.by('payment', id).length > 0

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((all, one) => all + one, 0n)

function appliedParts({ chain: { contract, latest } }: Surroundings, row: PaymentRow): Applied[] {
  const refs = Array.from({ length: row.refSequence + 1 }, (_, refSequence) => refIdOf({ id: row.id, refSequence }))
  return refs.flatMap((refId) => contract.appliedAt(refOf(refId), latest.number) ?? [])
}

function auditPayment(around: Surroundings, row: PaymentRow): Finding[] {
  const found: Finding[] = []
  const say = (what: string) => void found.push(`${row.kind} ${row.id} (${row.state}): ${what}`)
  const { provider, world } = around
  // A payment that was cancelled before we knew it is no money.
  const { book } = provider
  const paid = book.all('payments').filter((one) => referenceOf(book, one) === row.id)
  const charges = paid.filter((one) => !isCancelled(one) || one.id === row.providerPaymentId)
  const own = charges.find(({ id }) => id === row.providerPaymentId)
  const applied = appliedParts(around, row)
  const { contract, latest } = around.chain
  const live = applied.map((one) => contract.leftAt(one, latest.number)).filter((left) => left > 0n)
  if (live.length > 1) say(`was credited ${live.length} times`)
  const onChain = sum(live)
  // Of an overpaid settlement only a part counts. Refunds of the charge count for the rest first.
  const isInPart = own && row.overpaidMinor > 0n && row.paidMinor !== null
  const restMinor = isInPart ? own.capturedMinor - row.paidMinor! : 0n
  const goneMinor = own ? refundedOf(book, own) : 0n
  const ownGoneMinor = atLeastZero(goneMinor - restMinor)
  const feeMinor = own ? feeOf(row, own.channelCode, around.pricing.feesOf(row.quoteId)) : 0n
  const worth = own
    ? worthOf(row, { paidMinor: own.capturedMinor - restMinor, feeMinor, refundedMinor: ownGoneMinor })
    : 0n
  const isGiven = onChain + row.recoveredMicro > 0n
  if (isGiven && row.feeMinor !== feeMinor) say(`paid a fee of ${row.feeMinor}, not ${feeMinor}`)
  if (isGiven && feeMinor > 0n) world.saw('a top-up paid a fee')
  const isReversed = (world.rows.reversals.get(row.id)?.lostMicro ?? 0n) > 0n
  if (onChain + row.recoveredMicro > worth && !isReversed && !(own && orderedMinorOf(book, own) > 0n))
    say(`credited ${onChain + row.recoveredMicro}, but is worth ${worth}`)
  if (charges.length > 0 && !own && row.state !== 'review') say('was paid, but has no charge')
  const isThere = ['credited', 'repaid', 'held'].includes(row.state)
  if (isThere && onChain !== row.onchainMicro) say(`has ${onChain} on the chain, not ${row.onchainMicro}`)
  if (isThere && onChain + row.recoveredMicro < worth)
    say(`credited ${onChain + row.recoveredMicro}, but is worth ${worth}`)
  if (['revoked', 'refunded', 'expired', 'replaced'].includes(row.state) && onChain > 0n)
    say(`still has ${onChain} on the chain`)
  if (own && ownGoneMinor !== row.refundedMinor)
    say(`has refunds of ${row.refundedMinor}, the provider has ${ownGoneMinor}`)
  if (
    own &&
    paid.length === 1 &&
    own.capturedMinor === row.fiatMinor &&
    row.overpaidMinor === 0n &&
    !mayBeOnHold(row)
  ) {
    const wholeMicro = worthOf(row, { paidMinor: row.fiatMinor, feeMinor, refundedMinor: 0n })
    const given = { ...row, wholeMicro, givenMicro: onChain + row.recoveredMicro }
    found.push(...auditOwed(around, given, own))
  }
  const others = charges.filter((one) => one !== own && own)
  const second = restMinor + sum(others.map(({ capturedMinor }) => capturedMinor))
  const cancelled = paid.filter((one) => isCancelled(one) && one !== own)
  const secondMax = second + sum(cancelled.map(({ capturedMinor }) => capturedMinor))
  if (row.overpaidMinor < second || row.overpaidMinor > secondMax)
    say(`was overpaid by ${second}, but recorded ${row.overpaidMinor}`)
  // The time of a payment decides whether the cycle that it closes is late.
  const isTimed = paid.every(({ id }) => !provider.untimed.has(id))
  const paidAt = paid.map(({ capturedAt }) => Math.floor(Date.parse(capturedAt!) / 1_000))
  for (const one of applied.filter(({ kind }) => isTimed && kind === 'repay'))
    if (!paidAt.includes(Number(one.paidAt))) say(`was recorded as paid at ${one.paidAt}, not ${paidAt.join(' or ')}`)
  for (const one of applied) noteRepaid(around, one)
  const said = bookedOf(world.rows, paymentsJournal, row.id)
  if (difference(said, positionOfPayment(row)).length > 0) say('does not match the books')
  const required = requiredOf(around, row, paid)
  if (required && !required.ends.includes(row.state))
    say(`"${required.fate}" requires ${required.ends.join(' or ')}, reason ${row.reason}`)
  const isAtStake = isWalletAtStake(around, row)
  // An operator may have cleared it.
  if (isAtStake && row.lostHold === null) say('may be going back, and its wallet is not frozen for it')
  if (!isAtStake && row.lostHold === 'frozen') say('is not going back, and its wallet is frozen for it')
  return found
}

function noteRepaid({ world, chain: { contract, latest } }: Surroundings, one: Applied): void {
  const { wallet, repaid, cycle } = one
  if (repaid > contract.leftAt(one, latest.number)) world.saw('a revoked repayment restored a debt')
  if (repaid > 0n && cycle === 0) world.saw('a settlement repaid the debt of a defaulted account')
  if (contract.closed.about(wallet).some((closed) => closed.cycle === cycle && closed.outcome === 'Late'))
    world.saw('a settlement repaid a debt after its due date')
}

/**
 * Returns the states in which a top-up must end by the fate of its only charge, or of both. Other amounts, unknown payers and
 * fates that were not played to their end have rules of their own.
 */
function requiredOf(
  around: Surroundings,
  row: PaymentRow,
  paid: readonly Payment[],
): { readonly fate: string; readonly ends: readonly string[] } | undefined {
  // An operator has decided otherwise.
  if (isDecided(around, row.id)) return undefined
  const charge = paid.at(-1)
  const befallen = charge && around.fates.get(charge.id)
  if (row.kind !== 'topup' || !charge || !befallen?.isPlayed || befallen.plan.kind !== 'topup') return undefined
  if (paid.length !== (befallen.plan.pays === 'twice' ? 2 : 1)) return undefined
  const fate = befallen.fate.name
  // Money of a cancelled checkout is held to the limits anew, and a frozen wallet has none.
  if (row.reason === 'excess_refused') return { fate, ends: ['review'] }
  // Its transactions reverted too often, so an operator decides.
  if (row.reason === 'credit_failed') return { fate, ends: ['review'] }
  const isPlain = charge.capturedMinor === row.fiatMinor && charge.sender === undefined
  const isOfThisPlan = befallen.plan.pays !== 'in time'
  return isPlain || isOfThisPlan ? { fate, ends: endsOf(befallen.plan, befallen.fate) } : undefined
}

/** Returns true if money that no hold keeps may be going back beyond the loss that is counted. */
function isWalletAtStake({ world }: Surroundings, row: PaymentRow): boolean {
  if (row.providerPaymentId === null || row.overpaidMinor > 0n || mayBeOnHold(row)) return row.lostHold === 'frozen'
  const reports = world.rows.refunds.by('charge', row.providerPaymentId)
  const reported = { ...backOf(reports, row.paidMinor ?? row.fiatMinor), othersMayGoMinor: 0n }
  return stanceOf(row, reported) === 'freeze'
}

/** Returns the fee that the quote named for the channel of the charge. */
function feeOf({ kind, fiatMinor }: PaymentRow, channelCode: string, fees: QuotedTopupFees): bigint {
  const channel = { QRIS: 'qr', CARDS: 'card' }[channelCode]
  const fee = fees.find((one) => one.channel === channel)
  return fee && kind === 'topup' ? BigInt(fee.fixed) + (fiatMinor * BigInt(fee.bps)) / 10_000n : 0n
}

type Money = Readonly<Record<'paidMinor' | 'feeMinor' | 'refundedMinor', bigint>>

/** Returns the AUSD (10⁻⁶) of the unrefunded money after its fee, at the row's rate. */
function worthOf(row: PaymentRow, { paidMinor, feeMinor, refundedMinor }: Money): bigint {
  if (paidMinor !== row.fiatMinor || refundedMinor >= row.fiatMinor) return 0n
  const rate = row.lateRateMinorPerUsd ?? row.rateMinorPerUsd
  const whole = row.kind === 'topup' ? ((row.fiatMinor - feeMinor) * 1_000_000n) / rate : row.ausdMicro
  return (whole * (row.fiatMinor - refundedMinor)) / row.fiatMinor
}

function auditCashout(around: Surroundings, row: Cashout): Finding[] {
  const found: Finding[] = []
  const say = (what: string) => void found.push(`cash-out ${row.id} (${row.state}): ${what}`)
  const { provider, chain, world } = around
  const payouts = payoutsOf(provider.book, row.id)
  const paid = payouts.filter(isPaid)
  if (payouts.length > 1) say(`was ordered ${payouts.length} times at the bank`)
  const { contract, latest } = chain
  const nonce = row.authorizationNonce as Hex
  const use = contract.useAt({ from: row.authorizer as Hex, nonce }, latest.number)
  const isTaken = use !== undefined && !use.isCancelled && use.to === treasury
  const back = contract.useAt({ from: treasury, nonce: refOf(`return:${row.id}`) }, latest.number)
  if (paid.length > 0 && row.state !== 'paid') say('was paid by the bank')
  if (paid.length === 0 && row.state === 'paid') say('was not paid by the bank')
  if (paid.length > 0 && !isTaken) say('was paid, but its AUSD was not taken')
  if (paid.length > 0 && back) say('was paid, and its AUSD given back')
  if (back && back.value !== row.ausdMicro) say(`gave back ${back.value} of ${row.ausdMicro}`)
  if (row.state === 'returned' && !(back && isTaken)) say('was not given back')
  if (row.state === 'failed' && isTaken) say('had its AUSD taken')
  const befallen = around.fates.get(row.id)
  const ends = befallen?.isPlayed && befallen.fate.events.length > 0 ? endsOf(befallen.plan, befallen.fate) : undefined
  if (ends && !ends.includes(row.state)) say(`"${befallen!.fate.name}" requires ${ends.join(' or ')}`)
  const said = bookedOf(world.rows, payoutsJournal, row.id)
  if (difference(said, positionOfCashout(row)).length > 0) say('does not match the books')
  return found
}

function auditMoney({ provider, world }: Surroundings): Finding[] {
  const { payments, anomalies } = world.rows
  const known = new Set([...payments.values()].map(({ providerPaymentId }) => providerPaymentId))
  const odd = new Set([...anomalies.values()].map(({ object }) => object))
  return provider.book
    .all('payments')
    .filter((one) => !isCancelled(one))
    .map(({ id }) => id)
    .filter((id) => !known.has(id) && !odd.has(id))
    .map((id) => `charge ${id} belongs to no payment and is no anomaly`)
}

function auditMessages({ broker, world }: Surroundings): Finding[] {
  return outboxes.flatMap((outbox) =>
    world.rows
      .outbox(outbox)
      .where(({ id, isPublished }) => isPublished && !broker.has(id))
      .map(({ subject }) => `a ${subject} is noted as published, but was never stored`),
  )
}

function auditSums({ provider, chain, world }: Surroundings): Finding[] {
  const found: Finding[] = []
  const ofPayments = totalsOf(world.rows, paymentsJournal)
  const ofPayouts = totalsOf(world.rows, payoutsJournal)
  const booked = (name: string) => (ofPayments.get(name) ?? 0n) + (ofPayouts.get(name) ?? 0n)
  const { book } = provider
  for (const [currency, account, ofProvider] of [
    ['IDR', 'provider_id', 'ID'],
    ['MYR', 'provider_my', 'MY'],
  ] as const) {
    const came = book.all('payments').filter((one) => one.account === ofProvider)
    const paidOut = book.all('payouts').filter(({ status }) => status === 'SUCCEEDED')
    const there =
      sum(came.map(({ capturedMinor }) => capturedMinor)) -
      sum(came.map((one) => refundedOf(book, one))) -
      (currency === 'IDR' ? sum(paidOut.map(({ amountMinor }) => amountMinor)) : 0n)
    const name = `${account} ${currency}`
    if (booked(name) !== there) found.push(`the books have ${booked(name)} ${name}, not ${there}`)
  }
  const { contract, latest } = chain
  const gave = contract.applied.all.map((one) => contract.leftAt(one, latest.number))
  // The signed transfer of a cash-out that expired unaccepted is an unsolicited deposit, which the books job finds.
  const takers = new Set([...world.rows.operations.values()].map((row) => row.authorizationNonce))
  const moved = contract.used.all.filter(({ isCancelled }) => !isCancelled)
  const taken = moved.filter(({ to, nonce }) => to === treasury && takers.has(nonce))
  const back = moved.filter(({ from }) => from === treasury)
  const there = sum(taken.map(({ value }) => value)) - sum(back.map(({ value }) => value)) - sum(gave)
  const said = booked('treasury AUSD')
  if (said !== there) found.push(`the books have ${said} AUSD in the treasury, not ${there}`)
  return found
}

function auditRelayer({ chain, world }: Surroundings): Finding[] {
  const found: Finding[] = []
  const { contract, latest } = chain
  const given = new Set<string>()
  for (const { wallet } of contract.drips.all) {
    if (given.has(wallet)) found.push(`${wallet} was given native coin twice`)
    given.add(wallet)
  }
  for (const { address, nextNonce, fault } of world.rows.lanes.values()) {
    const count = chain.countAt(address, latest.number)
    if (count !== nextNonce) found.push(`lane ${address} gave out ${nextNonce} nonces, ${count} used`)
    if (fault) found.push(`lane ${address} is blocked: ${fault}`)
  }
  if (world.rows.lanes.size > laneAddresses.length) found.push('more lanes than keys')
  for (const operation of world.rows.operations.values()) {
    const { kind, cause, state, id } = operation
    if (kind !== 'credit' && kind !== 'repay') continue
    const isApplied = contract.appliedAt(refOf(cause), latest.number) !== undefined
    if (isApplied !== (state === 'settled')) found.push(`${kind} ${id} is ${state} and ${isApplied}`)
  }
  for (const { wallet, frozen, frozenByOperator } of world.rows.wallets.values()) {
    const isMissing = world.rows.reversals
      .by('wallet', wallet)
      .some(({ clearedAt, madeGoodMicro, lostMicro }) => clearedAt === null && madeGoodMicro < lostMicro)
    const isInDoubt = world.rows.payments.by('wallet', wallet).some(({ lostHold }) => lostHold === 'frozen')
    if (frozen && !isMissing && !isInDoubt && !frozenByOperator) found.push(`${wallet} is frozen without a reason`)
    if (!frozen && (isMissing || isInDoubt || frozenByOperator)) found.push(`${wallet} is not frozen`)
    if (frozen && !contract.flagOf('frozen', wallet)) found.push(`${wallet} is frozen, and not on the chain`)
  }
  for (const { kind, wallet, state } of world.rows.operations.values()) {
    if (kind !== 'verify' && kind !== 'freeze') continue
    const orders = world.rows.operations
      .by('wallet', wallet)
      .filter((other) => other.kind === kind)
      .sort((left, right) => Number((right.revision ?? 0n) - (left.revision ?? 0n)))
    const newest = orders[0]!.payload as { verified?: boolean; frozen?: boolean }
    const wanted = newest.verified ?? newest.frozen
    const flag = contract.flagOf(kind === 'verify' ? 'verified' : 'frozen', wallet)
    if (state === 'settled' && flag !== wanted) found.push(`${wallet}: ${kind} is ${flag}`)
  }
  return found
}
