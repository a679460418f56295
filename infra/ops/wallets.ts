import type { Sql } from 'postgres'
import { operatorDatabaseUrl, operatorSecrets, withDatabase } from '#infra/ops/stack'
import { runCommand } from '#shared/command'

/** A wallet that is frozen because a payment of its was taken back after the hold. */
export type FrozenWallet = {
  wallet: string
  /** 10⁻⁶ AUSD that nobody has made good. */
  missingMicro: string
  since: Date
  /** The chain has the order. */
  onChain: boolean
  payments: string[]
}

/** Every frozen wallet, the longest first. */
export const listFrozen = (sql: Sql): Promise<FrozenWallet[]> => sql<FrozenWallet[]>`
  select w.wallet, w.updated_at as since, w.order_again_at is null as "onChain",
    coalesce(sum(r.lost_micro - r.made_good_micro), 0)::text as "missingMicro",
    coalesce(array_agg(r.payment_id) filter (where r.payment_id is not null), '{}') as payments
  from payments.wallets w
  left join payments.reversals r on r.wallet = w.wallet and r.cleared_at is null
    and r.made_good_micro < r.lost_micro
  where w.frozen group by w.wallet order by w.updated_at`

/**
 * Asks the payments service to give up what is missing of a wallet and to end its freeze, which it
 * does within seconds. False when the wallet is not frozen.
 */
export async function requestClearing(sql: Sql, wallet: string, reason: string): Promise<boolean> {
  const asked = await sql`
    update payments.wallets set clear_requested_at = now(), clear_reason = ${reason}
    where wallet = ${wallet.toLowerCase()} and frozen`
  return asked.count === 1
}

const usage = `usage: bun infra/ops/wallets.ts list
       bun infra/ops/wallets.ts clear <wallet> <reason>`

async function run(sql: Sql, [verb, wallet, ...reason]: string[]): Promise<string> {
  if (verb === 'list') {
    const frozen = await listFrozen(sql)
    return frozen.length === 0 ? 'no wallet is frozen' : frozen.map(lineOf).join('\n')
  }
  if (verb !== 'clear' || !wallet || reason.length === 0) return usage
  const asked = await requestClearing(sql, wallet, reason.join(' '))
  return asked ? `${wallet} will be freed within seconds` : `${wallet} is not frozen`
}

const lineOf = ({ wallet, missingMicro, since, onChain, payments }: FrozenWallet): string =>
  [
    since.toISOString(),
    wallet,
    `${missingMicro} micro AUSD missing`,
    onChain ? 'frozen on chain' : 'order on its way',
    ...payments,
  ].join('  ')

if (import.meta.main) {
  await runCommand(operatorSecrets, async (say) =>
    say(await withDatabase(operatorDatabaseUrl(), (sql) => run(sql, process.argv.slice(2)))),
  )
}
