import type { Sql } from 'postgres'
import { askOutcome, perform } from '#infra/operations/audit-log/audit-log.store'
import {
  type CommandResult,
  type CommandWords,
  changing,
  reading,
} from '#infra/operations/cli/command'
import type { Operator } from '#infra/operations/cli/operator'
import { walletFault } from '#infra/operations/cli/person/wallet'
import { PersonRule } from '#shared/messages/person'

type Wallet = `0x${string}`

/** A wallet that is not verified, because its person has a record in the name of another one. */
export type Duplicate = {
  wallet: string
  /** The wallet with the record; null if the provider's other applicant is none of our wallets. */
  sameAs: string | null
  since: Date
  /** An operator's decision; null while it waits for one. */
  ruling: 'allowed' | 'linked' | null
}

export const listDuplicates = (sql: Sql): Promise<Duplicate[]> => sql<Duplicate[]>`
  select i.wallet, coalesce(p.linked_to, i.same_as) as "sameAs", i.decided_at as since, p.ruling
  from gateway.identities i left join gateway.persons p on p.wallet = i.wallet
  where i.state = 'duplicate' order by p.ruling is not null, i.decided_at`

const lineOf = ({ wallet, sameAs, since, ruling }: Duplicate): string =>
  [
    since.toISOString(),
    wallet,
    `same person as ${sameAs ?? 'an applicant without a wallet of ours'}`,
    ruling ?? 'waits for a decision',
  ].join('  ')

export const list = reading({
  does: 'list wallets whose person is verified with another wallet, those without a decision first',
  usage: 'persons list [--json]',
  read: async (_, { sql }): Promise<CommandResult> => {
    const duplicates = await listDuplicates(sql)
    const text = duplicates.map(lineOf).join('\n') || 'no person has a second wallet'
    return { text, data: { duplicates }, ok: duplicates.every(({ ruling }) => ruling !== null) }
  },
})

type Known = { linkedTo: string | null; deed: string; replaced: string | null }

/**
 * The decision that the operator sees is the cause: the same one after another decision is a new
 * command.
 */
async function decide(operator: Operator, { words, reason, by }: CommandWords, verb: string) {
  const [wallet, linkedTo = null] = words.map((word) => word.toLowerCase()) as Wallet[]
  const [known] = await operator.sql<Known[]>`
    select linked_to as "linkedTo", deed, replaced from gateway.persons where wallet = ${wallet!}`
  const isMade = known?.linkedTo === linkedTo
  const replaced = isMade ? known.replaced : (known?.deed ?? null)
  const cause = [`decision after ${replaced ?? 'none'}`, linkedTo].filter(Boolean).join(', ')
  const ask = (deed: string) =>
    askOutcome(operator, PersonRule, { deed, by, reason, wallet: wallet!, linkedTo, replaced })
  return [await perform(operator, { verb, target: wallet!, cause, reason, by }, ask)]
}

export const allow = changing({
  does: 'let a wallet be verified although its person has another wallet',
  usage: 'persons allow <wallet> --reason <why> [--by <who>]',
  takes: 1,
  faultIn: walletFault,
  change: (asked, operator) => decide(operator, asked, 'persons allow'),
})

export const link = changing({
  does: 'confirm that the person of a wallet has their record with another one; the first is not verified',
  usage: 'persons link <wallet> <wallet with the record> --reason <why> [--by <who>]',
  takes: 2,
  faultIn: ([wallet = '', other = '']) => {
    const isSame = wallet.toLowerCase() === other.toLowerCase()
    return (
      walletFault([wallet]) ?? walletFault([other]) ?? (isSame ? 'two wallets, not one' : undefined)
    )
  },
  change: (asked, operator) => decide(operator, asked, 'persons link'),
})
