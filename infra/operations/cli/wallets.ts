import type { Sql } from 'postgres'
import { numberedCause } from '#infra/operations/audit-log/numbered-cause'
import { askOutcome, type Performed, perform } from '#infra/operations/audit-log/perform'
import { among, type CommandResult, changing, reading } from '#infra/operations/cli/command'
import type { Operator } from '#infra/operations/cli/operator'
import { walletFault } from '#infra/operations/cli/person/wallet'
import { isOwed, predicate } from '#infra/operations/predicates'
import { LossGivenBack, PaymentTakenBack, WalletClear, WalletFreeze, WalletReclaim } from '#shared/messages/payments'
import { moneyText } from '#shared/money/text'
import { isLostHold, payments } from '../../../services/payments/payment.table'

export type FrozenWallet = {
  wallet: string
  /** Amount that the wallet still owes, in 10⁻⁶ AUSD. */
  missingMicro: string
  since: Date
  /** True if the freeze is final on chain. */
  onChain: boolean
  /** Payments whose losses the wallet has not repaid. */
  payments: string[]
  /** Payments of which money may be going back while no hold keeps it. */
  lostHolds: string[]
  byOperator: boolean
  /** Operator who froze it by hand, and why; null if that is not in the audit log. */
  frozenBy: string | null
}

/** Returns the frozen wallets, longest frozen first. */
export const listFrozen = (sql: Sql): Promise<FrozenWallet[]> => sql<FrozenWallet[]>`
  select wallet, updated_at as since, retry_at is null as "onChain", frozen_by_operator as "byOperator",
    coalesce(micro, 0)::text as "missingMicro", coalesce(lost.payments, '{}') as payments,
    case when frozen_by_operator then (
      select coalesce(o.asked_by, c.asked_by) || ' (' || coalesce(o.reason, c.reason) || ')'
      from ops.commands c join ops.outcomes o on o.command_id = c.id and o.outcome = 'done'
      where c.verb = 'wallets freeze' and c.target = w.wallet order by o.id desc limit 1) end as "frozenBy",
    array(select id from payments.payments where wallet = w.wallet
      and ${predicate(sql, isLostHold(payments))} order by 1) as "lostHolds"
  from payments.wallets w left join (
    select wallet, sum(lost_micro - made_good_micro) as micro,
      array_agg(payment_id order by payment_id) as payments
    from payments.reversals where ${isOwed(sql)} group by wallet
  ) lost using (wallet)
  where frozen order by updated_at`

export const frozenText = ({ missingMicro, onChain, ...because }: FrozenWallet): string =>
  [
    `owes ${moneyText(missingMicro, 'AUSD')}`,
    onChain ? 'frozen on chain' : 'freeze pending',
    ...because.payments,
    ...because.lostHolds.map((id) => `money of ${id} may be going back`),
    ...(because.byOperator ? [`frozen by ${because.frozenBy ?? 'an operator'}: wallets unfreeze ends that`] : []),
  ].join(', ')

/** Repayment of a loss that was undone later. `micro` is the amount not given back yet, in 10⁻⁶ AUSD. */
export type NeedlessRepayment = {
  wallet: string
  paymentId: string
  micro: string
  givenBackMicro: string
}

/** Returns needless repayments, oldest first. */
export const listNeedless = (sql: Sql, paymentId = ''): Promise<NeedlessRepayment[]> =>
  sql<NeedlessRepayment[]>`
    select wallet, payment_id as "paymentId", (made_good_micro - lost_micro)::text as micro,
      given_back_micro::text as "givenBackMicro"
    from payments.reversals
    where made_good_micro > lost_micro and ${paymentId} in ('', payment_id) order by updated_at`

const list = reading({
  does: 'list frozen wallets, longest frozen first, and needless repayments',
  usage: 'wallets list',
  read: async (_, { sql }): Promise<CommandResult> => {
    const [frozen, needless] = [await listFrozen(sql), await listNeedless(sql)]
    const lines = [
      ...frozen.map((one) => `${one.since.toISOString()}  ${one.wallet}  ${frozenText(one)}`),
      ...needless.map(
        ({ wallet, paymentId, micro }) => `${wallet}  repaid ${moneyText(micro, 'AUSD')} needlessly for ${paymentId}`,
      ),
    ]
    const text = lines.join('\n') || 'no frozen wallets, and no needless repayments'
    return { text, data: { frozen, needless }, ok: lines.length === 0 }
  },
})

/** Returns the state of the freeze and the cause. A later freeze or another loss makes the command another one. */
async function freezeOf(sql: Sql, wallet: string, missing: string) {
  const [row] = await sql<{ frozen: boolean; revision: string }[]>`
    select frozen, revision::text from payments.wallets where wallet = ${wallet}`
  if (!row) return { revision: '0', cause: 'never frozen' }
  const { frozen, revision } = row
  const cause = frozen ? `frozen at revision ${revision}, ${missing} missing` : `free at ${revision}`
  return { revision, cause }
}

export const clearedText = (done: string, payments: readonly string[] = []): string =>
  [done, ...payments.map((id) => `${id} may still need review: bun run ops review show ${id}`)].join('; ')

const clear = changing({
  does: 'write off the loss of a wallet and unfreeze it; reclaim undoes it',
  usage: 'wallets clear <wallet> --reason <why> [--by <who>]',
  takes: 1,
  faultIn: walletFault,
  change: async ({ words: [given = ''], reason, by }, operator) => {
    const wallet = given.toLowerCase() as `0x${string}`
    const frozen = (await listFrozen(operator.sql)).find((one) => one.wallet === wallet)
    const missing = frozen?.missingMicro ?? '0'
    const { revision, cause } = await freezeOf(operator.sql, wallet, missing)
    const command = { verb: 'wallets clear', target: wallet, cause, reason, by }
    return [
      await perform(operator, command, async (id) => {
        const asked = { command: id, by, reason, wallet, revision, missing }
        const outcome = await askOutcome(operator, WalletClear, asked)
        return 'done' in outcome ? { done: clearedText(outcome.done, frozen?.payments) } : outcome
      }),
    ]
  },
})

const reclaim = changing({
  does: 'undo the latest clearing of a wallet: its loss is owed again, and it is frozen',
  usage: 'wallets reclaim <wallet> --reason <why> [--by <who>]',
  takes: 1,
  faultIn: walletFault,
  change: async ({ words: [given = ''], reason, by }, operator) => {
    const wallet = given.toLowerCase() as `0x${string}`
    const [row] = await operator.sql<{ clearing: string | null }[]>`
      select cleared_revision::text as clearing from payments.wallets where wallet = ${wallet}`
    const clearing = row?.clearing ?? '0'
    const command = { verb: 'wallets reclaim', target: wallet, cause: `clearing ${clearing}`, reason, by }
    return [
      await perform(operator, command, (id) =>
        askOutcome(operator, WalletReclaim, { command: id, by, reason, wallet, clearing }),
      ),
    ]
  },
})

const setting = (name: string, to: 'frozen' | 'free', does: string) =>
  changing({
    does,
    usage: `wallets ${name} <wallet> --reason <why> [--by <who>]`,
    takes: 1,
    faultIn: walletFault,
    change: async ({ words: [given = ''], reason, by }, operator) => {
      const wallet = given.toLowerCase() as `0x${string}`
      const [row] = await operator.sql<{ revision: string; held: boolean }[]>`
        select revision::text, frozen_by_operator as held from payments.wallets where wallet = ${wallet}`
      const { revision, held } = row ?? { revision: '0', held: false }
      // A repeated command finds the wallet so, and changes nothing.
      const cause = held === (to === 'frozen') ? `${to} already` : `${to} after revision ${revision}`
      const command = { verb: `wallets ${name}`, target: wallet, cause, reason, by }
      return [
        await perform(operator, command, (id) =>
          askOutcome(operator, WalletFreeze, { command: id, by, reason, wallet, to, revision }),
        ),
      ]
    },
  })

export async function gaveBack(
  operator: Pick<Operator, 'sql' | 'ask' | 'signing'>,
  paymentId: string,
  { reason, by }: { reason: string; by: string },
): Promise<Performed> {
  const [needless] = await listNeedless(operator.sql, paymentId)
  const { micro, givenBackMicro } = needless ?? { micro: '0', givenBackMicro: '0' }
  const cause = `${micro} repaid needlessly, ${givenBackMicro} given back before`
  const command = { verb: 'wallets given-back', target: paymentId, cause, reason, by }
  return perform(operator, command, (id) =>
    askOutcome(operator, LossGivenBack, { command: id, by, reason, paymentId, micro }),
  )
}

const givenBack = changing({
  does: 'record that a needless repayment was given back',
  usage: 'wallets given-back <payment> --reason <why> [--by <who>]',
  takes: 1,
  change: async ({ words: [paymentId = ''], reason, by }, operator) => [
    await gaveBack(operator, paymentId, { reason, by }),
  ],
})

export async function tookBack(
  operator: Pick<Operator, 'sql' | 'ask' | 'signing'>,
  { paymentId, transactionId, minor }: { paymentId: string; transactionId: string; minor: string },
  { reason, by }: { reason: string; by: string },
): Promise<Performed> {
  const named = { verb: 'wallets taken-back', target: paymentId }
  const about = ` of ${paymentId} by ${transactionId}`
  const cause = await numberedCause(operator.sql, named, `${minor}${about}`, about)
  return perform(operator, { ...named, cause, reason, by }, (id) =>
    askOutcome(operator, PaymentTakenBack, { command: id, by, reason, paymentId, transactionId, minor }),
  )
}

const minorForm = /^(0|[1-9][0-9]{0,17})$/

const takenBack = changing({
  does: 'record that a transaction of the provider took money of a payment back; 0 takes the record back',
  usage: 'wallets taken-back <payment> <txn_…> <smallest units> --reason <why> [--by <who>]',
  takes: 3,
  faultIn: ([, transactionId = '', minor = '']) => {
    if (!/^txn_[A-Za-z0-9_-]{1,200}$/.test(transactionId)) return `${transactionId} is not a txn_… of the provider`
    return minorForm.test(minor) ? undefined : `${minor} is not an amount in the smallest unit`
  },
  change: async ({ words: [paymentId = '', transactionId = '', minor = ''], reason, by }, operator) => [
    await tookBack(operator, { paymentId, transactionId, minor }, { reason, by }),
  ],
})

export const wallets = among('frozen wallets: list, freeze, unfreeze, clear, reclaim, given-back, taken-back', {
  list,
  freeze: setting('freeze', 'frozen', 'freeze a wallet: no draw, withdrawal, card top-up, cash-out or send'),
  unfreeze: setting('unfreeze', 'free', 'end the freeze of an operator; what the wallet owes keeps it frozen'),
  clear,
  reclaim,
  'given-back': givenBack,
  'taken-back': takenBack,
})
