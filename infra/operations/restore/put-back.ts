import type { Sql, TransactionSql } from 'postgres'
import type { ServiceName } from '#shared/messages/topic'
import { unpaidStates } from '../../../services/payouts/cashout'
import { type Erased, eraseAgain } from './erased'
import { uncreditedStates } from './known'
import type { LaneTransaction } from './lane'
import { postGiveback, postTransaction } from './lane-posting'
import type { LostOperation } from './operations'
import { paymentColumns, postPayments, postPayouts } from './posting'
import type { FoundPayments, FoundReturns, LostPayment, LostPayout, PaidFacts } from './world'

export type PutBack = {
  since: Date
  payments: readonly LostPayment[]
  /** Present rows, with newer facts from provider and chain. */
  paid: FoundPayments['paid']
  payouts: readonly LostPayout[]
  /** Present cash-outs whose return was ordered since the backup. */
  returns: readonly string[]
  /** Those whose return must not happen, because a bank was paid. */
  dropped: FoundReturns['dropped']
  /** Cash-outs that operators held since the backup. */
  hold: readonly string[]
  /** Wallets erased since the backup. */
  erased: Erased
  /** Ids of their cash-outs that a bank has paid, but that the rows may have open. */
  paidCashouts: readonly string[]
  /** Wallets whose identity must be rechecked. */
  asked: readonly { wallet: string; provider: string }[]
  transactions: readonly { transaction: LaneTransaction; operations: readonly LostOperation[] }[]
}

/** Restores rows in one transaction. Changes a present row only if chain or provider is ahead of it. */
export const putBack = (sql: Sql, what: PutBack): Promise<unknown> =>
  sql.begin(async (tx) => {
    const leased = await tx`select 1 from chain_relayer.lane where leased_until > now() for update`
    if (leased.length > 0 && what.transactions.length > 0)
      throw new Error('chain-relayer was started during the restore; nothing was changed')
    for (const { overpaid_minor: rest, ...row } of what.payments)
      await postPayments(tx, await withRest(tx, await insertPayment(tx, row), rest))
    for (const { id, facts } of what.paid) {
      const { overpaid_minor: rest, ...others } = facts
      await postPayments(tx, await withRest(tx, await updatePaid(tx, id, others), rest))
    }
    for (const row of what.payouts) await postPayouts(tx, await insertPayout(tx, row))
    for (const id of what.returns) await postPayouts(tx, await letReturn(tx, id))
    for (const order of what.dropped) await dropReturn(tx, order)
    for (const id of what.hold) await holdUnpaid(tx, id)
    for (const { wallet, provider } of what.asked)
      await tx`insert into gateway.identity_rechecks (wallet, provider, next_check_at)
        values (${wallet}, ${provider}, now()) on conflict do nothing`
    for (const { transaction, operations } of what.transactions) await insertTransaction(tx, transaction, operations)
    await readListsAgain(tx, what.since)
    await eraseAgain(tx, what.erased, what.paidCashouts) // Erasure comes last, because the rows above belong to erased wallets too.
  })

/** Delay in ms in which the provider's list, with its refunds, is read before a payment is credited. */
const checkAfterMs = 5_000

type RestoredPayments = Parameters<typeof postPayments>[1][number][]

/** Returns the columns as the driver takes them, with amounts as text. */
const withTexts = (columns: object): Record<string, string | boolean | Date | null> =>
  Object.fromEntries(
    Object.entries(columns).map(([name, value]) => [name, typeof value === 'bigint' ? value.toString() : value]),
  )

const insertPayment = (tx: TransactionSql, row: LostPayment) => {
  return tx<RestoredPayments>`insert into payments.payments ${tx({ ...withTexts(row), next_check_at: new Date(Date.now() + checkAfterMs) })}
    on conflict do nothing returning ${tx(paymentColumns)}`
}

/** Updates a payment to `paid`. Refunds that were made since are applied once the payment is credited. */
const updatePaid = (tx: TransactionSql, id: string, facts: PaidFacts) => {
  const values = {
    ...withTexts(facts),
    reason: null,
    checks: 0,
    next_check_at: new Date(Date.now() + checkAfterMs),
  }
  return tx<RestoredPayments>`update payments.payments set ${tx(values)}, updated_at = now()
    where id = ${id} and state = any(${[...uncreditedStates]}) and credited_at is null
    returning ${tx(paymentColumns)}`
}

/**
 * Records the rest of an overpaid settlement once, as its service does, so that an operator can return it. Returns the rows as
 * they are then.
 */
async function withRest(
  tx: TransactionSql,
  rows: RestoredPayments,
  rest: bigint | undefined,
): Promise<RestoredPayments> {
  const [row] = rows
  if (!row || rest === undefined) return rows
  const { id, account, currency, provider_payment_id: object } = row
  const amount = rest.toString()
  const anomaly = {
    id: `paid_twice:${account}:${object}`,
    kind: 'paid_twice',
    account,
    object,
    payment_id: id,
    currency,
  }
  const made =
    await tx`insert into payments.anomalies ${tx({ ...anomaly, amount_minor: amount })} on conflict do nothing`
  if (made.count === 0) return rows
  return tx<RestoredPayments>`update payments.payments set overpaid_minor = overpaid_minor + ${amount} where id = ${id}
    returning ${tx(paymentColumns)}`
}

/**
 * Inserts a cash-out for which no transfer will be ordered, because only the provider has its bank details. A row from
 * before the cash-out was accepted keeps its own terms and takes the state.
 */
const insertPayout = (tx: TransactionSql, row: LostPayout) => {
  const { wallet, providerPayoutId, createdAt } = row
  const values = {
    id: row.id,
    state: row.state,
    wallet,
    authorizer: wallet,
    reason: row.reason,
    ausd_micro: row.ausdMicro.toString(),
    fiat_minor: row.fiatMinor.toString(),
    rate_minor_per_usd: row.rateMinorPerUsd.toString(),
    fee_minor: row.feeMinor.toString(),
    spread_bps: row.spreadBps.toString(),
    quote_id: row.quoteId,
    request_fingerprint: row.requestFingerprint,
    channel_code: row.channelCode,
    authorization_nonce: row.authorization.nonce,
    authorization: tx.json(row.authorization),
    bank_details: '',
    bank_details_key_id: 'lost',
    provider_payout_id: providerPayoutId,
    take_tx_hash: row.takeTxHash,
    ...(providerPayoutId ? { attempts: 1, attempted_at: createdAt } : {}),
    created_at: createdAt,
    next_check_at: new Date(),
  }
  return tx<Parameters<typeof postPayouts>[1][number][]>`insert into payouts.payouts ${tx(values)}
    on conflict (id) do update set state = excluded.state, reason = excluded.reason,
      provider_payout_id = excluded.provider_payout_id, take_tx_hash = excluded.take_tx_hash,
      attempts = excluded.attempts, attempted_at = excluded.attempted_at,
      next_check_at = excluded.next_check_at, checks = 0, updated_at = now()
    where payouts.state = 'opening'
    returning id, state, fiat_minor, fee_minor, ausd_micro, spread_bps`
}

/**
 * Lets a present cash-out be returned whose AUSD went back since the backup, or was ordered back, as after an operator cancelled
 * it: its row would be paid. Its service orders the return again, which the relayer recognises.
 */
const letReturn = (tx: TransactionSql, payoutId: string) =>
  // guard: a cash-out whose AUSD went back since the backup is not paid after a restore
  tx<Parameters<typeof postPayouts>[1][number][]>`update payouts.payouts
    set state = 'returning', reason = case state when 'paid' then 'bank_reversed' else coalesce(reason, 'cancelled') end,
      next_check_at = now(), checks = 0, updated_at = now()
    where id = ${payoutId} and state not in ('returning', 'returned')
    returning id, state, fiat_minor, fee_minor, ausd_micro, spread_bps`

/** Drops an ordered return that is not signed. The messages count as handled, so that the relayer does not store it again. */
async function dropReturn(tx: TransactionSql, { id, messageIds }: FoundReturns['dropped'][number]): Promise<void> {
  await tx`delete from chain_relayer.operation where kind = 'return' and cause = ${id} and state = 'waiting'`
  for (const messageId of messageIds)
    await tx`insert into chain_relayer.inbox (consumer, message_id, done_at)
      values (${relayer}, ${messageId}, now())
      on conflict (consumer, message_id) do update set done_at = coalesce(inbox.done_at, now())`
}

/** Holds a cash-out again that an operator held since the backup, before its service may pay it. */
const holdUnpaid = (tx: TransactionSql, payoutId: string) =>
  // guard: a cash-out that was held since the backup is not paid after a restore
  tx`update payouts.payouts set held_by_operator = true, hold_revision = hold_revision + 1, updated_at = now()
    where id = ${payoutId} and state = any(${[...unpaidStates]}) and not held_by_operator`

const relayer: ServiceName = 'chain-relayer'

async function insertTransaction(
  tx: TransactionSql,
  transaction: LaneTransaction,
  operations: readonly LostOperation[],
): Promise<void> {
  const { lane, nonce, hash, blockNumber, blockHash, to, data, valueWei, actions } = transaction
  const place = { tx_hash: hash, block_number: blockNumber.toString(), block_hash: blockHash }
  const isNoop = actions?.length === 1 && actions[0]!.does === 'nothing'
  const outcome = transaction.reverted ? 'reverted' : isNoop ? 'noop' : actions ? 'ok' : 'foreign'
  const ids = operations.map(({ id }) => id)
  const values = {
    lane,
    nonce,
    to,
    data,
    value_wei: valueWei.toString(),
    outcome,
    ...place,
    purpose: isNoop ? 'noop' : (actions?.length ?? 0) > 1 ? 'batch' : 'op',
    operation_ids: tx.json(ids),
  }
  const stored = await tx`insert into chain_relayer.transaction ${tx(values)}
    on conflict (lane, nonce) do update set outcome = excluded.outcome, tx_hash = excluded.tx_hash,
      block_number = excluded.block_number, block_hash = excluded.block_hash, updated_at = now()
    where transaction.outcome is null`
  if (stored.count === 1) await postTransaction(tx, transaction)
  for (const one of operations) {
    const settled = await insertOperation(tx, one, { lane, nonce, ...place })
    if (settled.count === 1 && one.kind === 'giveback') await postGiveback(tx, one)
    if (one.kind === 'return') await postPayouts(tx, await letReturn(tx, one.cause))
  }
  // The rows assigned operations to this nonce, but another transaction used it.
  await tx`update chain_relayer.operation set state = 'waiting', not_before = now()
    where lane = ${lane} and nonce = ${nonce} and state = 'assigned'`
  await tx`update chain_relayer.lane set fault = null, updated_at = now(),
      next_nonce = greatest(next_nonce, ${nonce + 1}) where address = ${lane}`
}

/**
 * Inserts an operation. Replaces a row of the same cause that was never sent; a row that settled before stays
 * unchanged.
 */
const insertOperation = (tx: TransactionSql, one: LostOperation, place: Record<string, unknown>) => {
  const { id, kind, cause, wallet, payload, revision } = one
  const values = {
    id,
    kind,
    cause,
    wallet,
    revision,
    payload: tx.json(payload as never),
    content_hash: one.contentHash,
    authorization_nonce: one.authorizationNonce,
    leaves_micro: one.leavesMicro,
    state: 'settled',
    ...place,
  }
  return tx`insert into chain_relayer.operation ${tx(values as never)}
    on conflict (id) do update set state = 'settled', reason = null, watch_at = null,
      payload = excluded.payload, content_hash = excluded.content_hash,
      lane = excluded.lane, nonce = excluded.nonce, tx_hash = excluded.tx_hash,
      block_number = excluded.block_number, block_hash = excluded.block_hash, updated_at = now()
    where operation.state <> 'settled'`
}

async function readListsAgain(tx: TransactionSql, since: Date): Promise<void> {
  await tx`update payments.listings set due_at = now(), read_at = least(read_at, ${since})`
  await tx`update payouts.listings set due_at = now(), read_at = least(read_at, ${since})`
}
