import type { Sql } from 'postgres'
import { askOutcome, perform } from '#infra/operations/audit-log/perform'
import { type CommandResult, type CommandWords, changing, reading } from '#infra/operations/cli/command'
import type { Operator } from '#infra/operations/cli/operator'
import { walletFault } from '#infra/operations/cli/person/wallet'
import { FlagOrder, PersonRule, PersonWithdraw } from '#shared/messages/person'

type Wallet = `0x${string}`

/** Wallet that is not verified, because the same person has a record in the name of another wallet. */
export type Duplicate = {
  wallet: string
  /** The wallet with the record. Null if the provider's other applicant is none of our wallets. */
  sameAs: string | null
  since: Date
  /** Operator's decision; null while the wallet waits for one, also after an earlier one was taken back. */
  ruling: 'allowed' | 'linked' | null
}

export const listDuplicates = (sql: Sql): Promise<Duplicate[]> => sql<Duplicate[]>`
  select i.wallet, coalesce(p.linked_to, i.same_as) as "sameAs", greatest(i.decided_at, p.ruled_at) as since,
    nullif(p.ruling, 'restored') as ruling
  from gateway.identities i left join gateway.persons p on p.wallet = i.wallet
  where i.state = 'duplicate' order by nullif(p.ruling, 'restored') is not null, since`

/** Wallet that is not verified, because an operator withdrew its verification. */
export type Withdrawn = { wallet: string; since: Date }

export const listWithdrawn = (sql: Sql): Promise<Withdrawn[]> => sql<Withdrawn[]>`
  select wallet, ruled_at as since from gateway.persons where ruling = 'withdrawn' order by ruled_at`

/** Wallet whose verified flag the relayer gave up. */
export type FailedFlag = {
  wallet: string
  state: string
  revision: string
  failure: string | null
  since: Date
}

/** Returns the failed flags, oldest first. */
export const listFailedFlags = (sql: Sql): Promise<FailedFlag[]> => sql<FailedFlag[]>`
  select wallet, state, revision::text, failure, flag_failed_at as since
  from gateway.identities where flag_failed_at is not null order by flag_failed_at`

export const failedFlagText = ({ state, failure }: Pick<FailedFlag, 'state' | 'failure'>): string =>
  `${state}, but its flag is not on the chain: ${failure}`

const lineOf = ({ wallet, sameAs, since, ruling }: Duplicate): string =>
  [
    since.toISOString(),
    wallet,
    `same person as ${sameAs ?? 'an applicant without a wallet of ours'}`,
    ruling ?? 'waits for a decision',
  ].join('  ')

export const list = reading({
  does: 'list wallets whose person is verified with another wallet, those without a decision first; then withdrawn verifications, and flags that the relayer gave up',
  usage: 'persons list [--json]',
  read: async (_, { sql }): Promise<CommandResult> => {
    const [duplicates, failedFlags] = [await listDuplicates(sql), await listFailedFlags(sql)]
    const withdrawn = await listWithdrawn(sql)
    const lines = [
      ...duplicates.map(lineOf),
      ...withdrawn.map((one) => `${one.since.toISOString()}  ${one.wallet}  verification withdrawn: persons restore`),
      ...failedFlags.map((one) => `${one.since.toISOString()}  ${one.wallet}  ${failedFlagText(one)}`),
    ]
    const text = lines.join('\n') || 'no person has a second wallet, no verification is withdrawn, no flag was given up'
    const ok = failedFlags.length === 0 && duplicates.every(({ ruling }) => ruling !== null)
    return { text, data: { duplicates, withdrawn, failedFlags }, ok }
  },
})

/**
 * Command that orders a flag again. Each failure has its own revision, and the order that follows it has the next one.
 */
export const order = changing({
  does: 'order the verified flag again that the relayer gave up',
  usage: 'persons order <wallet> --reason <why> [--by <who>]',
  takes: 1,
  faultIn: walletFault,
  change: async ({ words: [given = ''], reason, by }, operator) => {
    const wallet = given.toLowerCase() as Wallet
    const [known] = await operator.sql<{ revision: string }[]>`
      select (revision - (flag_failed_at is null)::int)::text as revision
      from gateway.identities where wallet = ${wallet} and revision > 0`
    const revision = known?.revision ?? '0'
    const cause = `given up at revision ${revision}`
    const command = { verb: 'persons order', target: wallet, cause, reason, by }
    const ask = (id: string) => askOutcome(operator, FlagOrder, { command: id, by, reason, wallet, revision })
    return [await perform(operator, command, ask)]
  },
})

type Ruling = 'allowed' | 'linked' | 'withdrawn' | 'restored'
type PersonDecision = { ruling: Ruling; linkedTo: string | null; command: string; replaced: string | null }

/**
 * Performs a decision. Its cause is the decision that the operator sees now, so the same decision after a different one
 * is a new command.
 */
async function decide(operator: Operator, { words, reason, by }: CommandWords, ruling: Ruling, verb: string) {
  const [wallet, linkedTo = null] = words.map((word) => word.toLowerCase()) as [Wallet, Wallet?]
  const [known] = await operator.sql<PersonDecision[]>`
    select ruling, linked_to as "linkedTo", deed as command, replaced from gateway.persons where wallet = ${wallet}`
  const isMade = known?.ruling === ruling && known.linkedTo === linkedTo
  const replaced = isMade ? known.replaced : (known?.command ?? null)
  const cause = [`decision after ${replaced ?? 'none'}`, linkedTo].filter(Boolean).join(', ')
  const ask = (command: string) => {
    const asked = { command, by, reason, wallet, replaced }
    return ruling === 'withdrawn' || ruling === 'restored'
      ? askOutcome(operator, PersonWithdraw, { ...asked, to: ruling })
      : askOutcome(operator, PersonRule, { ...asked, linkedTo })
  }
  return [await perform(operator, { verb, target: wallet, cause, reason, by }, ask)]
}

const ofOneWallet = (name: string, ruling: Ruling, does: string) =>
  changing({
    does,
    usage: `persons ${name} <wallet> --reason <why> [--by <who>]`,
    takes: 1,
    faultIn: walletFault,
    change: (asked, operator) => decide(operator, asked, ruling, `persons ${name}`),
  })

export const allow = ofOneWallet('allow', 'allowed', 'let a wallet be verified although its person has another wallet')

export const withdraw = ofOneWallet(
  'withdraw',
  'withdrawn',
  'withdraw the verification of a wallet, whatever the identity provider says; restore undoes it',
)

export const restore = ofOneWallet(
  'restore',
  'restored',
  "take the latest decision about a wallet back: the identity provider's answer decides",
)

export const link = changing({
  does: 'confirm that the person of a wallet has their record with another one; the first is not verified',
  usage: 'persons link <wallet> <wallet with the record> --reason <why> [--by <who>]',
  takes: 2,
  faultIn: ([wallet = '', other = '']) => {
    const isSame = wallet.toLowerCase() === other.toLowerCase()
    return walletFault([wallet]) ?? walletFault([other]) ?? (isSame ? 'two wallets, not one' : undefined)
  },
  change: (asked, operator) => decide(operator, asked, 'linked', 'persons link'),
})
