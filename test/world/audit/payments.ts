import { type ChainFacts, chainRef, isFrozen, type UnderRef } from '../chain-facts'
import type { Book, Entry, Evidence, Ledger } from '../evidence'
import type { PaymentDeed, WorldDeed } from '../record'
import { judgeDoubts, type Known } from './doubts'

export const sum = (amounts: readonly bigint[]) => amounts.reduce((total, one) => total + one, 0n)
export const minorOf = (amount: unknown): bigint => BigInt(Math.round(Number(amount)))

/** Most refs of a payment, which gets another one each time it is applied again because a refund was undone. */
const partsMax = 5
export const refsOf = (id: string) => [
  chainRef(id),
  ...Array.from({ length: partsMax }, (_, index) => chainRef(`${id}.${index + 1}`)),
]

/**
 * Returns the money of a payment in minor units. A void takes all of it, and so does a dispute in another currency,
 * whose rate only the provider knows.
 */
export function moneyOf(id: string, { payments = [], refunds = [], chargebacks = [] }: Book) {
  const own = payments.filter((one) => one.session_reference_id === id && one.captures.length > 0)
  const inCurrency = (amount: unknown, currency: string) =>
    currency === 'MYR' ? minorOf(Number(amount) * 100) : minorOf(amount)
  const moneyOfCharge = (charge: Book[string][number]) => {
    const { payment_id: id, currency, captures, status, listed_status } = charge
    const capturedMinor = sum(
      captures.map((one: { capture_amount: number }) => inCurrency(one.capture_amount, currency)),
    )
    const disputes = chargebacks.filter((one) => one.status === 'SUCCESS')
    const gone = [...refunds.filter((one) => one.status === 'SUCCEEDED'), ...disputes].filter(
      (one) => one.of_payment === id,
    )
    const isForeign = (one: { currency: string }) => one.currency !== currency
    const goneMinor = sum(gone.filter((one) => !isForeign(one)).map((one) => inCurrency(one.amount, currency)))
    const isVoid = status === 'CANCELED' || ['VOIDED', 'REVERSED'].includes(listed_status)
    const isAbroad = gone.some(isForeign)
    const isAll = isVoid || isAbroad
    const backMinor = isAll ? larger(goneMinor, capturedMinor) : goneMinor
    return { id: id as string, capturedMinor, backMinor, isAbroad }
  }
  const charges = own.map(moneyOfCharge)
  return {
    charges,
    capturedMinor: sum(charges.map((one) => one.capturedMinor)),
    backMinor: sum(charges.map((one) => one.backMinor)),
    isAbroad: charges.some((one) => one.isAbroad),
  }
}

const larger = (one: bigint, other: bigint) => (one > other ? one : other)
const smaller = (one: bigint, other: bigint) => (one < other ? one : other)

export const isPayment = (deed: WorldDeed): deed is PaymentDeed => deed.kind === 'topup' || deed.kind === 'settlement'

/** Audits the payments. Each loss must be recovered, or its wallet frozen. */
export function auditPayments(evidence: Evidence, ledger: Ledger): void {
  const { deeds, book, chain, entries, database } = evidence
  const promised = new Map(
    deeds.filter(isPayment).flatMap((one) => (one.answer ? [[one.answer.id, one] as const] : [])),
  )
  const doubted: Known[] = []
  const states = new Map(entries.map((one) => [one.id, one]))
  const known = new Set<string>()
  const losses: Losses = new Map()
  for (const id of new Set((book.sessions ?? []).map((one) => one.reference_id as string))) {
    const parts = refsOf(id).map(chain.underRef)
    for (const ref of refsOf(id)) known.add(ref)
    for (const part of parts) auditPart(id, part, ledger)
    const money = moneyOf(id, book)
    if (money.capturedMinor === 0n && parts.every(isEmpty)) continue
    ledger.count('payments captured')
    const netMicro = sum(parts.map(netOf))
    const state = states.get(id)
    const owner = state?.wallet
    for (const account of new Set(parts.flatMap((part) => [...part.accounts])))
      if (account !== owner) ledger.find(`${id} of ${owner} was credited to ${account}`)
    const deed = promised.get(id)
    judgePayment({ id, ...money, counted: database.counted.get(id), netMicro, state, deed, losses }, ledger)
    if (deed?.answer && state)
      doubted.push({ id, deed, status: state.status, parts, capturedMinor: money.capturedMinor })
  }
  auditRefundOrders(book, promised, ledger)
  judgeLosses(losses, chain, database.owed, ledger)
  judgeDoubts(doubted, evidence, ledger)
  for (const ref of chain.refs)
    if (!known.has(ref) && BigInt(ref) !== 0n)
      ledger.find(`the contract has ref ${ref}, which no payment at the provider has`)
}

const isEmpty = ({ added, repaid }: UnderRef) => added.length + repaid.length === 0
const netOf = ({ added, repaid, revoked }: UnderRef) => sum(added) + sum(repaid) - sum(revoked)

function auditPart(id: string, { added, repaid, revoked }: UnderRef, ledger: Ledger): void {
  if (added.length > 1) ledger.find(`${id} was added ${added.length} times`)
  if (repaid.length > 1) ledger.find(`${id} was repaid ${repaid.length} times`)
  if (sum(revoked) > sum(added) + sum(repaid)) ledger.find(`more of ${id} was revoked than added`)
}

/** Checks the refunds that we ordered. Each has one reference, under which the provider may refund once. */
function auditRefundOrders({ refunds = [] }: Book, promised: ReadonlyMap<string, PaymentDeed>, ledger: Ledger): void {
  const ordered = refunds.filter(({ reference_id: of }) => String(of).startsWith('ordered-'))
  for (const [reference, same] of Map.groupBy(ordered, (one) => one.reference_id as string)) {
    if (same.length > 1) ledger.find(`the provider made ${same.length} refunds for ${reference}`)
    const deed = promised.get(reference.replace(/^ordered-/, '').replace(/_\d+$/, ''))
    const replays = same.reduce((count, one) => count + Number(one.replays ?? 0), 0)
    if (deed?.requires.askedOnce && replays > 0)
      ledger.find(`${reference} was requested ${replays + 1} times although the provider shows its refunds`)
  }
}

type Judged = {
  id: string
  charges: ReturnType<typeof moneyOf>['charges']
  /** The provider's id of the charge that the services count. */
  counted: string | undefined
  capturedMinor: bigint
  backMinor: bigint
  isAbroad: boolean
  netMicro: bigint
  state: Entry | undefined
  deed: PaymentDeed | undefined
  losses: Losses
}

function judgePayment(judged: Judged, ledger: Ledger): void {
  const { id, capturedMinor, backMinor, netMicro, state, deed, charges } = judged
  const words = `${id} (${state?.status}; ${deed?.plan.pays}, ${deed?.fate})`
  if (!state) ledger.find(`${id} was paid and is in no activity`)
  else if (capturedMinor === 0n) ledger.find(`${words} has ${netMicro} and was never paid`)
  else if (backMinor >= capturedMinor) judgeTakenBack(words, { ...judged, state }, ledger)
  else if (deed?.answer && deed.plan.pays === 'twice' && charges.length > 1 && countsMinor(judged) > 0n)
    judgeTwice(words, { ...judged, state }, ledger)
  else if (deed?.answer && capturedMinor !== deed.answer.fiatMinor)
    judgeWrongAmount(words, { ...judged, state }, ledger)
  else judgeArrived(words, { ...judged, state }, ledger)
}

type Shown = Judged & { state: Entry }

function judgeTakenBack(words: string, judged: Shown, ledger: Ledger) {
  const { id, netMicro, losses, state, deed, capturedMinor, backMinor, isAbroad } = judged
  ledger.count('payments reversed')
  if (isAbroad) ledger.wait(id, `${words} was disputed in another currency`)
  // The provider may pay back the same money twice, by a refund and by a dispute.
  const beyondMinor = backMinor - capturedMinor
  const { ausdMicro, fiatMinor } = deed?.answer ?? { ausdMicro: 0n, fiatMinor: 1n }
  const beyondMicro = (ausdMicro * beyondMinor + fiatMinor - 1n) / fiatMinor
  noteLoss(losses, state, { id, words, micro: netMicro + beyondMicro })
  noteUndone(judged)
}

/**
 * Judges a payment of another amount than promised. A top-up waits for an operator. A settlement repays what its money surely
 * covers, and the rest waits.
 */
function judgeWrongAmount(words: string, judged: Shown, ledger: Ledger): void {
  const { id, netMicro, state, capturedMinor, backMinor, deed } = judged
  const { ausdMicro = 0n, fiatMinor = 1n } = deed?.answer ?? {}
  if (state.kind === 'settlement') {
    const countedMinor = smaller(capturedMinor - backMinor, fiatMinor)
    const dueMicro = (ausdMicro * countedMinor) / fiatMinor
    if (netMicro > dueMicro)
      ledger.find(`${words} was paid ${capturedMinor} and has ${netMicro} instead of ${dueMicro}`)
    else if (netMicro < dueMicro && state.status !== 'review')
      ledger.find(`${words} was paid ${capturedMinor}, has ${netMicro} of ${dueMicro} and is not in review`)
    else if (state.status === 'review') ledger.wait(id, `${words} was paid ${capturedMinor} instead of ${fiatMinor}`)
    else if (state.status !== 'repaid')
      ledger.find(`${words} was paid ${capturedMinor} and is neither repaid nor in review`)
    return
  }
  if (netMicro !== 0n) ledger.find(`${words} was paid a wrong amount and has ${netMicro}`)
  else if (state.status !== 'review') ledger.find(`${words} was paid a wrong amount and is not in review`)
  else ledger.wait(id, `${words} was paid ${capturedMinor} instead of ${deed?.answer?.fiatMinor}`)
}

/** Returns the charge that the services count. Without one, they have not heard of the payment yet. */
const ownOf = ({ charges, counted }: Judged) => charges.find((one) => one.id === counted) ?? charges[0]!

/** Returns the part of its own charge that a payment counts. A top-up counts only the promised amount, a settlement a part of it. */
function countsMinor(judged: Judged): bigint {
  const { fiatMinor } = judged.deed!.answer!
  const { capturedMinor } = ownOf(judged)
  return capturedMinor === fiatMinor || judged.deed!.kind === 'settlement' ? smaller(capturedMinor, fiatMinor) : 0n
}

/**
 * Judges a payment that was paid a second time: it counts once, and its other money waits for an operator until it has gone
 * back. Money that goes back from the charge that counts is a loss, whatever is left of the other.
 */
function judgeTwice(words: string, judged: Shown, ledger: Ledger): void {
  const { id, netMicro, state, deed, losses, capturedMinor, backMinor } = judged
  const { ausdMicro, fiatMinor } = deed!.answer!
  const own = ownOf(judged)
  const counts = countsMinor(judged)
  // What goes back from the charge counts for its rest first.
  const goneMinor = larger(0n, own.backMinor - (own.capturedMinor - counts))
  const leftMinor = larger(0n, counts - goneMinor)
  const dueMicro = (ausdMicro * leftMinor) / fiatMinor
  const isSecondLeft = capturedMinor - backMinor > leftMinor
  const mayEnd = isSecondLeft ? ['review'] : ['credited', 'repaid', 'review']
  if (netMicro > ausdMicro) ledger.find(`${words} was paid twice and has ${netMicro} instead of ${ausdMicro}`)
  else if (!mayEnd.includes(state.status))
    ledger.find(`${words} was paid twice and is not ${isSecondLeft ? 'in review' : mayEnd.join(' or ')}`)
  else if (state.status === 'review') ledger.wait(id, `${words} was paid twice`)
  noteLoss(losses, state, { id, words, micro: netMicro - dueMicro })
  if (netMicro < dueMicro)
    lossOf(losses, state.wallet).kept.push({
      words: `${words} has ${netMicro} of ${dueMicro}`,
      micro: dueMicro - netMicro,
    })
}

function judgeArrived(words: string, judged: Shown, ledger: Ledger): void {
  const { id, netMicro, losses, state, deed, capturedMinor, backMinor } = judged
  const isPart = backMinor > 0n
  const isUndone = deed ? cameBack(deed) : false
  const isRefused = state.status === 'review' && state.reason === 'excess_refused'
  const isUnknown = deed?.plan.isUnknown && state.status === 'review' && netMicro === 0n
  if (isUnknown) return void ledger.wait(id, `${words} was paid by a payer whom the bank does not know`)
  const isReviewed = (isPart || isUndone || isRefused) && state.status === 'review'
  if (!['credited', 'repaid'].includes(state.status) && !isReviewed)
    return void ledger.find(`${words} was paid and not credited`)
  ledger.count(isPart ? 'payments reversed in part' : 'payments completed')
  const promisedMicro = deed?.answer?.ausdMicro
  if (promisedMicro === undefined) return
  const dueMicro = (promisedMicro * (capturedMinor - backMinor)) / capturedMinor
  const keptMicro = dueMicro - netMicro
  noteUndone(judged)
  if (isPart) noteLoss(losses, state, { id, words, micro: -keptMicro })
  else if (keptMicro < 0n) ledger.find(`${words} has ${netMicro} instead of ${dueMicro}`)
  if (isRefused && netMicro === 0n) return void ledger.wait(id, `${words} was refused by the limits`)
  if (keptMicro <= 0n) return
  const kept = { words: `${words} has ${netMicro} of ${dueMicro}`, micro: keptMicro }
  // A late checkout, also a cancelled one, is credited at the worse of two rates, so the difference may not be a recovery.
  const cause = /late|cancelling/.test(deed?.plan.pays ?? '') ? 'late' : 'kept'
  if (isUndone && state.status === 'review') ledger.wait(id, `${kept.words}, money came back`)
  else lossOf(losses, state.wallet)[cause].push(kept)
}

const cameBack = ({ requires }: PaymentDeed): boolean => requires.money === 'undone' || requires.cameBack === true

/** Losses by wallet. */
type Losses = Map<string, Loss>
type Loss = {
  lost: { id: string; words: string; micro: bigint }[]
  kept: { words: string; micro: bigint }[]
  late: { words: string; micro: bigint }[]
  /** Payments whose money came back. */
  undone: string[]
}

/** Records a payment whose loss proved to be none. An operator gives back what was recovered for it. */
function noteUndone({ id, deed, losses, state }: Shown): void {
  if (deed && cameBack(deed)) lossOf(losses, state.wallet).undone.push(id)
}

function noteLoss(losses: Losses, { wallet }: Entry, lost: Loss['lost'][number]): void {
  if (lost.micro > 0n) lossOf(losses, wallet).lost.push(lost)
}

function lossOf(losses: Losses, wallet: string): Loss {
  const known = losses.get(wallet) ?? { lost: [], kept: [], late: [], undone: [] }
  losses.set(wallet, known)
  return known
}

/**
 * Checks that what a wallet lacks after losses and recoveries is what the services recorded, and that an open loss freezes it.
 * A wallet may have repaid more than was lost only if a loss was undone.
 */
function judgeLosses(losses: Losses, chain: ChainFacts, owed: ReadonlyMap<string, bigint>, ledger: Ledger): void {
  const total = (all: readonly { micro: bigint }[]) => sum(all.map(({ micro }) => micro))
  for (const wallet of owed.keys()) lossOf(losses, wallet)
  for (const [wallet, { lost, kept, late, undone }] of losses) {
    const lackMicro = total(lost) - total(kept)
    const words = [...lost, ...kept].map((one) => one.words).join('; ')
    const owedMicro = owed.get(wallet) ?? 0n
    // A late payment may have repaid a loss with any part of what it lacks.
    const isRecorded = owedMicro <= lackMicro && owedMicro >= lackMicro - total(late)
    if (!isRecorded && (lackMicro >= 0n || undone.length > 0))
      ledger.find(`${wallet} owes ${lackMicro} for a reversal and the services recorded ${owedMicro}: ${words}`)
    if (lackMicro < 0n && undone.length > 0)
      for (const id of undone) ledger.wait(id, `${id}: ${-lackMicro} was repaid for a loss that was undone`)
    else if (lackMicro < 0n) ledger.find(`${wallet} was credited ${-lackMicro} too little: ${words}`)
    else if (lackMicro > total(late) && !isFrozen(chain, wallet))
      ledger.find(`${wallet} owes ${lackMicro} for a reversal and is not frozen: ${words}`)
    else if (lackMicro > 0n)
      for (const { id, words: own } of lost) ledger.wait(id, `${own} was reversed after its hold: the wallet is frozen`)
    else if (lost.length > 0) ledger.count('losses recovered')
  }
}
