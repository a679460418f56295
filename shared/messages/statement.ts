import { type Static, Type } from 'typebox'
import { Address, AusdAmount, Fee, FiatAmount, Hash, Pair, Timestamp } from '#shared/messages/fields'
import { question, type ServiceName } from '#shared/messages/topic'

export const statementDaysMax = 366
/** Most items from each service. */
export const statementItemsMax = 1_000

const ausd = (about: string) => Type.String({ ...AusdAmount, about })

const balances = {
  collateral: ausd('Collateral, on hold or not, at the value at which it was paid in.'),
  debt: ausd('Debt on the credit line.'),
  inFlight: ausd('AUSD paid for and not yet on the credit line, or on its way back to the wallet.'),
  payouts: Type.String({ ...FiatAmount, about: 'Rupiah on the way to the bank.' }),
}
export const balanceNames = Object.keys(balances) as (keyof typeof balances)[]

export const StatementBalance = Type.Object(balances, {
  title: 'StatementBalance',
  description: 'All balances at one moment.',
})
export type StatementBalance = Static<typeof StatementBalance>

export const StatementChange = Type.Partial(StatementBalance, {
  title: 'StatementChange',
  description: 'Amounts by which balances rise or fall; an absent one does not.',
})
export type StatementChange = Static<typeof StatementChange>

export const statementKinds = [
  'topup',
  'settlement',
  'cashout',
  'cashout_paid',
  'cashout_returning',
  'cashout_returned',
  'collateral_added',
  'collateral_withdrawn',
  'collateral_seized',
  'topup_revoked',
  'drawn',
  'repaid',
  'repayment_revoked',
] as const

const item = {
  at: Timestamp,
  kind: Type.Enum([...statementKinds], {
    title: 'StatementKind',
    description: 'A payment, a step of a cash-out, or an event of the credit line.',
  }),
  id: Type.Optional(Type.String({ description: '`id` of the item in the activity list.' })),
  ausd: AusdAmount,
  pair: Type.Optional(Pair),
  fiat: Type.Optional(FiatAmount),
  fee: Type.Optional(Fee),
  txHash: Type.Optional(Hash),
  in: StatementChange,
  out: StatementChange,
}

export const StatementItem = Type.Object(item, {
  title: 'StatementItem',
  description: 'One line: what it raises (`in`) and lowers (`out`).',
})
export type StatementItem = Static<typeof StatementItem>

/** An item with its `refs`: refs of the contract that belong to a payment, or the one of an event. */
const Entry = Type.Object({ ...item, refs: Type.Array(Hash) })
export type StatementEntry = Static<typeof Entry>

const part = (subject: string, owner: ServiceName) =>
  question(subject, owner, ['gateway'], {
    request: Type.Object({ wallet: Address, from: Timestamp, to: Timestamp }),
    answer: Type.Object({ opening: StatementChange, items: Type.Array(Entry) }),
    repeat: 'changes nothing',
  })

/** Reads payments and the money in flight from the journal of payments. Refused: statement_too_long. */
export const PaymentsStatement = part('payments.statement', 'payments')
/** Reads cash-outs from the journal of payouts. Refused: statement_too_long. */
export const PayoutsStatement = part('payouts.statement', 'payouts')
/**
 * Reads collateral and debt from finalized events. `until`: end of the period that is included, at most `to`. Refused:
 * indexer_lags, statement_too_long.
 */
export const IndexerStatement = question('indexer.statement', 'indexer-reader', ['gateway'], {
  request: PaymentsStatement.request,
  answer: Type.Object({ ...PaymentsStatement.answer.properties, until: Timestamp }),
  repeat: 'changes nothing',
})
