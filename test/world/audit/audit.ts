import { chainRef } from '../chain-facts'
import type { Evidence, Ledger, Verdict } from '../evidence'
import type { CashoutDeed, SendDeed } from '../record'
import { auditAutoRepayments } from './auto-repayments'
import { auditBooks, auditDatabase } from './database'
import { auditFailures } from './failures'
import { auditOutcomes, auditVerifications } from './outcomes'
import { auditPayments, minorOf, sum } from './payments'

/**
 * Judges a run: nothing lost, doubled, freed while in doubt, or promised without a deadline. It shares no code with the
 * services: no tables, state transitions, rounding or readers.
 */
export function audit(evidence: Evidence): Verdict {
  const findings: string[] = []
  const moments: { finding: string; atMs: number }[] = []
  const waiting: { id: string; words: string }[] = []
  const counted: Record<string, number> = {}
  const ledger: Ledger = {
    find: (sentence, atMs) => {
      findings.push(sentence)
      if (atMs !== undefined) moments.push({ finding: sentence, atMs })
    },
    wait: (id, words) => void waiting.push({ id, words }),
    count: (what, by = 1) => {
      counted[what] = (counted[what] ?? 0) + by
    },
  }
  auditPayments(evidence, ledger)
  auditCashouts(evidence, ledger)
  auditSends(evidence, ledger)
  auditEntries(evidence, ledger)
  auditFailures(evidence, ledger)
  auditOutcomes(evidence, ledger)
  auditVerifications(evidence, ledger)
  auditAutoRepayments(evidence, ledger)
  auditDatabase(evidence, ledger)
  auditBooks(evidence, waiting, ledger)
  const treasury = auditTreasury(evidence, ledger)
  return { findings, moments, waiting, counted, ...treasury }
}

function auditCashouts({ deeds, book, chain, entries, treasury }: Evidence, ledger: Ledger): void {
  const byNonce = Map.groupBy(
    deeds.filter((one): one is CashoutDeed => one.kind === 'cashout'),
    ({ wallet, nonce }) => `${wallet} ${nonce}`,
  )
  const payouts = Map.groupBy(book.payouts ?? [], (one) => one.reference_id as string)
  const cashouts = entries.filter(({ kind }) => kind === 'cashout')
  const states = new Map(cashouts.map((one) => [one.id, one]))
  for (const id of payouts.keys()) if (!states.has(id)) ledger.find(`the provider paid ${id}, which is in no activity`)

  for (const same of byNonce.values()) {
    const [{ wallet, nonce, valueMicro }] = same as [CashoutDeed]
    const takes = chain.uses(wallet, nonce).length
    if (takes > 1) ledger.find(`the transfer ${nonce} of ${wallet} was taken ${takes} times`)
    const ids = new Set(same.flatMap(({ answer }) => (answer ? [answer.id] : [])))
    const taken = [...ids].filter((id) => ['paid', 'returned'].includes(states.get(id)?.status ?? ''))
    if (taken.length > takes) ledger.find(`${taken} were paid or returned for ${takes} transfers`)
    if (takes > taken.length && ids.size === same.length)
      ledger.find(`${valueMicro} of ${wallet} was taken, and ${[...ids].join()} is not marked taken`)
  }
  for (const { id, status, wallet } of cashouts) {
    const own = payouts.get(id) ?? []
    const paid = own.filter((one) => one.status === 'SUCCEEDED')
    const returns = chain.uses(treasury, chainRef(`return:${id}`)).length
    ledger.count(`cash-outs ${status}`)
    if (own.length > 1) ledger.find(`the provider has ${own.length} payouts of ${id}`)
    if (returns > 1) ledger.find(`${id} was returned ${returns} times`)
    if (paid.length + returns > 1) ledger.find(`${id} was paid and returned`)
    if (status === 'paid' && paid.length !== 1) ledger.find(`${id} is marked paid and is not`)
    if (status === 'returned' && returns !== 1) ledger.find(`${id} is marked returned and is not`)
    if (status === 'failed' && own.length + returns > 0) ledger.find(`${id} failed and moved money`)
    if (!['paid', 'returned', 'failed'].includes(status)) ledger.find(`${id} of ${wallet} has not completed: ${status}`)
    const deed = [...byNonce.values()].flat().find(({ answer }) => answer?.id === id)
    const isReturn = (hash: string) => chain.uses(treasury, chainRef(`return:${id}`)).some((one) => one === hash)
    const backMicro = sum(
      chain.transfers.filter(({ to, hash }) => to === wallet && isReturn(hash)).map((one) => one.valueMicro),
    )
    if (deed && returns === 1 && backMicro !== deed.valueMicro)
      ledger.find(`${id} of ${deed.valueMicro} was returned with ${backMicro}`)
    const fiatMinor = paid.length === 1 ? minorOf(paid[0].amount) : null
    if (deed?.answer && fiatMinor !== null && fiatMinor !== deed.answer.fiatMinor)
      ledger.find(`${id} paid ${fiatMinor} instead of ${deed.answer.fiatMinor}`)
  }
}

function auditSends({ deeds, chain, entries }: Evidence, ledger: Ledger): void {
  const states = new Map(entries.map((one) => [one.id, one.status]))
  for (const { wallet, to, nonce, valueMicro, answer } of deeds.filter((one): one is SendDeed => one.kind === 'send')) {
    const moved = chain.transfers.filter((one) => one.to === to.toLowerCase())
    const status = answer ? states.get(answer.id) : undefined
    if (answer) ledger.count(`sends ${status}`)
    const isRight = moved.length === 1 && moved[0]!.valueMicro === valueMicro
    if (moved.length > 1) ledger.find(`the send ${nonce} of ${wallet} moved ${moved.length} times`)
    else if (status === 'sent' && !isRight) ledger.find(`${answer!.id} is marked sent and is not`)
    else if (status === 'failed' && moved.length > 0) ledger.find(`${answer!.id} failed and moved`)
    else if (answer && !['sent', 'failed'].includes(status ?? ''))
      ledger.find(`${answer.id} of ${wallet} has not completed: ${status}`)
  }
}

function auditEntries({ deeds, entries }: Evidence, ledger: Ledger): void {
  const states = new Map(entries.map((one) => [one.id, one]))
  const ends = [
    'replaced',
    'credited',
    'repaid',
    'expired',
    'revoked',
    'refunded',
    'review',
    'accepted',
    'awaiting_payment',
  ]
  for (const { kind, wallet, answer } of deeds)
    if (answer && states.get(answer.id)?.wallet !== wallet)
      ledger.find(`${kind} ${answer.id} was accepted and is not in the activity of ${wallet}`)
  for (const { id, kind, status } of entries)
    if ((kind === 'topup' || kind === 'settlement') && !ends.includes(status))
      ledger.find(`${kind} ${id} has not completed: ${status}`)
}

function auditTreasury({ deeds, chain, entries, treasury }: Evidence, ledger: Ledger) {
  const own = treasury.toLowerCase()
  const takes = new Set(deeds.flatMap((one) => (one.kind === 'cashout' ? chain.uses(one.wallet, one.nonce) : [])))
  const returns = new Set(entries.flatMap(({ id }) => chain.uses(treasury, chainRef(`return:${id}`))))
  let balanceMicro = 0n
  let movedMicro = 0n
  let explainedMicro = 0n
  const people = new Set(entries.map(({ wallet }) => wallet as string))
  for (const { wallet } of deeds) people.add(wallet)
  const touching = chain.transfers.filter(({ from, to }) => from === own || to === own)
  for (const [hash, group] of Map.groupBy(touching, (one) => one.hash)) {
    const inMicro = (other: (from: string) => boolean) =>
      sum(group.filter(({ from, to }) => to === own && other(from)).map((one) => one.valueMicro))
    const outMicro = (other: (to: string) => boolean) =>
      sum(group.filter(({ from, to }) => from === own && other(to)).map((one) => one.valueMicro))
    const isPerson = (address: string) => people.has(address)
    const isLine = (address: string) => !people.has(address) && BigInt(address) !== 0n
    const all = sum(group.map((one) => one.valueMicro))
    movedMicro += all
    balanceMicro += inMicro(() => true) - outMicro(() => true)
    const said = chain.inTransaction(hash).filter(({ ref }) => ref && BigInt(ref) !== 0n)
    const under = (...names: string[]) =>
      sum(said.filter(({ name }) => names.includes(name)).map((one) => one.amountMicro))
    const isExplained =
      outMicro(isLine) === under('CollateralAdded', 'Repaid') &&
      inMicro(isLine) === under('TopUpRevoked', 'RepaymentRevoked') &&
      (inMicro(isPerson) === 0n || takes.has(hash)) &&
      (outMicro(isPerson) === 0n || returns.has(hash))
    const isFunding = group.every(({ from }) => BigInt(from) === 0n)
    if (isExplained || isFunding) explainedMicro += all
    else ledger.find(`${all} moved through the treasury in ${hash} and belong to no item`)
  }
  if (balanceMicro !== chain.treasuryMicro)
    ledger.find(`the treasury holds ${chain.treasuryMicro}, its transfers add up to ${balanceMicro}`)
  return { treasuryMovedMicro: movedMicro, treasuryExplainedMicro: explainedMicro }
}
