import type { Sql } from 'postgres'
import { askOutcome, type Performed, perform } from '#infra/operations/audit-log/perform'
import type { CommandReply } from '#infra/operations/audit-log/signed-outcome'
import { type CommandResult, changing, reading } from '#infra/operations/cli/command'
import type { Operator } from '#infra/operations/cli/operator'
import { walletFault } from '#infra/operations/cli/person/wallet'
import { bankDetailsDays } from '#infra/operations/pruning/prune'
import { counted } from '#infra/operations/text'
import { personErasures } from '#shared/messages/person'

const verb = 'persons erase'

type Wallet = `0x${string}`
type ErasureOrder = { command: string; by: string; reason: string; wallet: Wallet; check: boolean }

/** Asks each service to erase. Stops at the first refusal, unless the order is only a check. */
async function askAll(operator: Pick<Operator, 'ask'>, asked: ErasureOrder): Promise<CommandReply> {
  const refusals: string[] = []
  for (const [service, question] of Object.entries(personErasures)) {
    const outcome = await askOutcome(operator, question, asked)
    if ('refused' in outcome) refusals.push(`${service}: ${outcome.refused}`)
    if (refusals.length > 0 && !asked.check) break
  }
  return refusals.length > 0 ? { refused: refusals.join('; ') } : { done: 'personal data erased' }
}

/**
 * Returns the number of the next erasure as the cause. Each erasure that is done is followed by another one, because only the
 * services know whether something came since, also for items from before it: a late verdict, or a note about a late payment.
 */
async function causeOf(sql: Sql, wallet: string): Promise<string> {
  const [earlier] = await sql<[{ done: number }]>`
    select count(*)::int as done from ops.commands d
    join ops.outcomes o on o.command_id = d.id and o.outcome = 'done'
    where d.verb = ${verb} and d.target = ${wallet}`
  return `erasure ${earlier.done + 1}`
}

/** Returns what the law wants kept of the wallet, or an empty text. */
async function keptText(sql: Sql, wallet: Wallet): Promise<string> {
  const [row] = await sql<{ count: number; until: Date | null }[]>`
    select count(*)::int as count, max(updated_at) + ${bankDetailsDays} * interval '1 day' as until
    from payouts.payouts where wallet = ${wallet} and bank_details <> ''`
  const { count, until } = row!
  if (count === 0 || until === null) return ''
  const day = until.toISOString().slice(0, 10)
  return `; the bank details of ${counted(count, 'paid cash-out')} stay sealed for the law until ${day}, unless BANK_DETAILS_KEPT_DAYS differs`
}

type Asking = { wallet: Wallet; reason: string; by: string; apply: boolean }

export async function eraseWallet(
  operator: Pick<Operator, 'ask' | 'sql'>,
  { wallet, reason, by, apply }: Asking,
): Promise<Performed> {
  const ask = (command: string, check: boolean) => askAll(operator, { command, by, reason, wallet, check })
  if (!apply) {
    const outcome = await ask(crypto.randomUUID(), true)
    if ('refused' in outcome) return { id: '', refused: outcome.refused }
    return { id: '', refused: 'nothing prevents it; nothing was changed: add --apply to erase' }
  }
  const cause = await causeOf(operator.sql, wallet)
  return perform(operator, { verb, target: wallet, cause, reason, by }, async (id) => {
    const checked = await ask(id, true)
    if ('refused' in checked) return checked
    const reply = await ask(id, false).catch((cause) => {
      throw new Error('some services may have erased', { cause })
    })
    return 'done' in reply ? { done: `${reply.done}${await keptText(operator.sql, wallet)}` } : reply
  })
}

export const erase = changing({
  does: 'erase the personal data of a wallet; records of money stay without it',
  usage: 'persons erase <wallet> --reason <why> [--by <who>] [--apply]',
  takes: 1,
  faultIn: walletFault,
  options: { apply: { type: 'boolean' } },
  change: async ({ words: [given = ''], options, reason, by }, operator) => {
    const wallet = given.toLowerCase() as Wallet
    return [await eraseWallet(operator, { wallet, reason, by, apply: options.apply === true })]
  },
})

export const listErased = (sql: Sql) => sql<{ wallet: string; at: Date }[]>`
  select d.target as wallet, max(o.recorded_at) as at from ops.commands d
  join ops.outcomes o on o.command_id = d.id and o.outcome = 'done'
  where d.verb = ${verb} group by d.target order by 2`

/** Command whose output is kept with each backup, so that a restore without the bus erases the same wallets. */
export const erased = reading({
  does: 'list the erased wallets with their times, to keep beside a backup',
  usage: 'persons erased [--json]',
  read: async (_, { sql }): Promise<CommandResult> => {
    const wallets = await listErased(sql)
    const text = wallets.map(({ wallet, at }) => `${wallet}@${at.toISOString()}`).join('\n')
    return { text, data: { erased: wallets }, ok: true }
  },
})
