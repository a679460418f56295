import type { Sql } from 'postgres'
import { askOutcome, perform } from '#infra/ops/deed.store'
import { among, changing, type Found, reading } from '#infra/ops/verb'
import { WalletClear } from '#shared/messages/payments'
import { moneyText } from '#shared/money/text'

/** A wallet that was frozen after a reversal. */
export type FrozenWallet = {
  wallet: string
  /** Outstanding loss, in 10⁻⁶ AUSD. */
  missingMicro: string
  since: Date
  /** The freeze is final on chain. */
  onChain: boolean
  payments: string[]
}

/** Lists frozen wallets, longest frozen first. */
export const listFrozen = (sql: Sql): Promise<FrozenWallet[]> => sql<FrozenWallet[]>`
  select w.wallet, w.updated_at as since, w.order_again_at is null as "onChain",
    coalesce(sum(r.lost_micro - r.made_good_micro), 0)::text as "missingMicro",
    coalesce(array_agg(r.payment_id) filter (where r.payment_id is not null), '{}') as payments
  from payments.wallets w
  left join payments.reversals r on r.wallet = w.wallet and r.cleared_at is null
    and r.made_good_micro < r.lost_micro
  where w.frozen group by w.wallet order by w.updated_at`

const lineOf = ({ wallet, missingMicro, since, onChain, payments }: FrozenWallet): string =>
  [
    since.toISOString(),
    wallet,
    `owes ${moneyText(missingMicro, 'AUSD')}`,
    onChain ? 'frozen on chain' : 'freeze pending',
    ...payments,
  ].join('  ')

const list = reading({
  ...{ does: 'list frozen wallets, longest frozen first', usage: 'wallets list' },
  read: async (_, { sql }): Promise<Found> => {
    const frozen = await listFrozen(sql)
    const text = frozen.map(lineOf).join('\n') || 'no frozen wallets'
    return { text, data: { frozen }, ok: frozen.length === 0 }
  },
})

/**
 * Returns the revision of the freeze that the operator sees, and the cause of the command: a later
 * freeze or another loss makes it another command.
 */
async function freezeOf(sql: Sql, wallet: string, missing: string) {
  const [row] = await sql<{ frozen: boolean; revision: string }[]>`
    select frozen, revision::text from payments.wallets where wallet = ${wallet}`
  if (!row) return { revision: '0', cause: 'never frozen' }
  const { frozen, revision } = row
  const cause = frozen
    ? `frozen at revision ${revision}, ${missing} missing`
    : `free at ${revision}`
  return { revision, cause }
}

/** Outcome, with the payments that may still need a decision. */
export const clearedText = (done: string, payments: readonly string[] = []): string =>
  [
    done,
    ...payments.map((id) => `${id} may still need review: bun run ops review show ${id}`),
  ].join('; ')

const clear = changing({
  does: 'write off the loss of a wallet and unfreeze it',
  usage: 'wallets clear <wallet> --reason <why> [--by <who>]',
  takes: 1,
  faultIn: ([wallet = '']) =>
    /^0x[0-9a-f]{40}$/i.test(wallet) ? undefined : `${wallet} is not an address`,
  change: async ({ words: [given = ''], reason, by }, operator) => {
    const wallet = given.toLowerCase() as `0x${string}`
    const frozen = (await listFrozen(operator.sql)).find((one) => one.wallet === wallet)
    const missing = frozen?.missingMicro ?? '0'
    const { revision, cause } = await freezeOf(operator.sql, wallet, missing)
    const deed = { verb: 'wallets clear', target: wallet, cause, reason, by }
    return [
      await perform(operator, deed, async (id) => {
        const asked = { deed: id, by, reason, wallet, revision, missing }
        const outcome = await askOutcome(operator, WalletClear, asked)
        return 'done' in outcome ? { done: clearedText(outcome.done, frozen?.payments) } : outcome
      }),
    ]
  },
})

export const wallets = among('frozen wallets: list, clear', { list, clear })
