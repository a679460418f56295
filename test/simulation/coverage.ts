import type { Lifecycle } from '#platform/lifecycle'
import { lifecycle as operationLifecycle } from '../../services/chain-relayer/operations/operation'
import { settlementLifecycle, topupLifecycle } from '../../services/payments/payment'
import { lifecycle as cashoutLifecycle } from '../../services/payouts/cashout'
import { refusalsToSee } from './chain/chain'
import { revertsToSee } from './chain/line'
import { triesToSee } from './rows/reminders'
import { fatesToSee } from './world/befall'
import { faultSights } from './world/faults'
import { meddlingsToSee } from './world/meddlings'
import { plansToSee } from './world/people'

// These events must occur in a run, which otherwise could pass without testing anything.

const edges = (name: string, lifecycle: Lifecycle<string>): string[] =>
  Object.entries(lifecycle).flatMap(([from, next]) => next.map((to) => `${name}: ${from} → ${to}`))

/** Too rare to require, and how each arises. */
export const rare: Readonly<Record<string, string>> = {
  'settlement: opening → refunded': 'paid without an address, and refunded before it is reported',
  'settlement: opening → review': 'paid without an address, and the wrong amount',
  'settlement: opening → replaced': 'a second one, while the first has no checkout for ten minutes',
  'settlement: opening → expired': 'not requested again for ten minutes',
  'settlement: opening → paid': 'paid without an address',
  'top-up: opening → expired': 'not requested again for ten minutes',
  'top-up: opening → refunded': 'paid without an address, and refunded before it is reported',
  'top-up: opening → review': 'paid without an address, and the wrong amount',
  'settlement: replaced → review': 'paid after another was opened, by a payer who is not verified',
  'settlement: replaced → refunded': 'paid after another was opened, and refunded at once',
  'settlement: expired → refunded': 'paid late, and refunded at once',
  'top-up: refunding → revoked': 'a second payment is refunded, after the first was revoked',
  'settlement: refunding → revoked': 'a second payment is refunded, after the first was revoked',
  'settlement: refunding → repaid': 'a second payment is refunded, after its hold',
  'top-up: accepted → review': 'paid again after an operator accepted it',
  'settlement: accepted → review': 'paid again after an operator accepted it',
  'top-up: expired → refunded': 'paid late, and refunded at once',
  'settlement: revoked → review': 'paid again long after it was refunded',
  'top-up: revoked → review': 'paid again long after it was refunded',
  'settlement: refunded → review': 'paid again after it was refunded',
  'top-up: refunded → review': 'paid again after it was refunded',
  'cash-out: opening → expired': 'not requested again for a minute',
  'cash-out: opening → returning': 'AUSD taken for rows of a backup',
  'cash-out: taking → returning':
    'the limit of its bank account is used up before the AUSD of a contract wallet arrives',
  'cash-out: expired → returning': 'AUSD taken for rows of a backup',
  'collateral was seized after a default': 'a repayment is revoked after its account was defaulted',
  'a settlement repaid the debt of a defaulted account': 'a repayment is revoked after its account was defaulted',
  'a nonce was filled with a noop': 'an authorization lapses after its send was signed',
  'a verdict waited for another of its wallet': 'two verdicts of one wallet at once',
  'a credit waited for a freeze of its wallet': 'a refund becomes known while another credit of the wallet waits',
  'an automatic repayment was not sent because of a payment':
    'a payment of its debt is ordered between its examination and its signature',
  'two instances worked on one message at once': 'a handler that takes longer than the acknowledgement may',
}

export const moments = [
  'a process was killed',
  'a process was killed between the commit and the acknowledgement',
  'a process was frozen and resumed',
  'a message was delivered again',
  'a message was delivered again after its work was committed',
  'a message was published again after the deduplication window',
  'an acknowledgement was lost',
  'a commit was applied and its response lost',
  'a guarded update lost a race',
  'a stream lost a message that it had acknowledged',
  'a webhook was delivered twice',
  'a webhook was never delivered',
  'a payment was not found for a moment',
  'a payment read as failed for a moment',
  'a payment was read without its times',
  'a refund was known before its payment was credited',
  'a loss was recovered',
  'a hold was extended',
  'a late payment waited for a rate',
  'a late payment was worth less',
  'a top-up paid a fee',
  'a second settlement was opened while one was open',
  'a user cancelled a checkout',
  'a user cancelled a checkout that was paid',
  'a payout order arrived after its sender had timed out',
  'a lane lease was lost during assignment',
  'a nonce was signed again with a higher fee',
  'a user drew against top-ups',
  'an account was defaulted',
  'a settlement repaid a debt after its due date',
  'a revoked repayment restored a debt',
  'the credit line was paused',
  'an order waited while the credit line was paused',
  'an order reverted because the credit line was paused',
  'several operations shared a transaction',
  'one operation of several reverted',
  'a transaction reverted without a reason',
  'a transaction reverted because the state had changed',
  'a user paid a debt that is repaid automatically',
  'an automatic repayment was ordered again',
  'an automatic repayment waited for a payment of its debt',
  'a block with an automatic repayment was replaced',
  'a process was killed while an automatic repayment was stored and not sent',
  'a block with our transactions was replaced',
  'a node lost an accepted transaction',
  'a transfer was submitted by a third party',
  'a transfer was cancelled by its signer',
  'a request of a killed process still arrived',
  'a message was published twice, and stored once',
  'a check found a payment without a webhook',
  'a check found a payout without a webhook',
  'an order was received again',
  'an outcome was announced again',
  'a lane moved to another instance',
  'a user sent a request twice at once',
  'a checkout was paid twice',
  'an expired checkout was paid',
  'a checkout was paid with another amount',
  'a payer was not verified',
  'an operator chose refund',
  'an operator chose credit',
  'an operator chose accept',
  'an operator gave a refund up',
  'an operator refunded a credited top-up',
  'a payer disputed a payment that an operator refunded',
  'our own refund and others took money of one payment',
  'an operator held a cash-out',
  'an operator released a cash-out',
  'an operator cancelled a cash-out',
  'an operator gave a payout up',
  'a refund that an operator ordered bounced',
  'an operator cleared a wallet',
  'an operator undid a clearing',
  'an operator froze a wallet',
  'an operator freed a wallet',
  'a decision of an operator was refused',
  'a refund or dispute named its payment by another id',
] as const

export const steps: readonly string[] = [
  ...edges('top-up', topupLifecycle),
  ...edges('settlement', settlementLifecycle),
  ...edges('cash-out', cashoutLifecycle),
  ...edges('operation', operationLifecycle),
]

export const wanted: readonly string[] = [
  ...moments,
  ...plansToSee,
  ...fatesToSee,
  ...meddlingsToSee,
  ...triesToSee,
  ...revertsToSee,
  ...refusalsToSee,
  ...faultSights,
  ...steps,
].filter((sight) => !(sight in rare))

export const missingAmong = (seen: ReadonlyMap<string, number>): string[] => wanted.filter((sight) => !seen.has(sight))
