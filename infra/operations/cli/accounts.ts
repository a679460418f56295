import type { Sql } from 'postgres'
import { askOutcome, perform } from '#infra/operations/audit-log/perform'
import { among, type CommandResult, changing, reading } from '#infra/operations/cli/command'
import type { Operator } from '#infra/operations/cli/operator'
import { counted } from '#infra/operations/text'
import { AccountFind, AccountRefuse } from '#shared/messages/payouts'
import type { RequestOf } from '#shared/messages/topic'
import { unpaidStates } from '../../../services/payouts/cashout'

// The name of an account is a keyed hash. Its number is only sent to payouts, which has the key: neither the audit log nor a
// line of output may contain it.

type NamedAccount = RequestOf<typeof AccountFind>['of']

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const listedName = /^acc_[A-Za-z0-9_-]{43}$/
const bankCode = /^ID_[A-Z0-9_]{2,40}$/
const accountNumber = /^[0-9]{6,20}$/

/** Reads how the operator names a bank account. Returns undefined for a wrong form. */
export function namedIn([first = '', number]: readonly string[]): NamedAccount | undefined {
  if (number !== undefined)
    return bankCode.test(first) && accountNumber.test(number)
      ? { channelCode: first, accountNumber: number }
      : undefined
  if (uuid.test(first)) return { payoutId: first }
  return listedName.test(first) ? { account: first } : undefined
}

/** Returns a text without the words, one of which may be an account number. */
const faultIn = (words: readonly string[]) =>
  namedIn(words)
    ? undefined
    : 'name an account by a bank code (ID_…) and 6 to 20 digits, by the id of a cash-out, or by acc_… of the list'

async function found({ ask }: Pick<Operator, 'ask'>, of: NamedAccount) {
  const answer = await ask(AccountFind, { of })
  if ('refused' in answer) throw new Error(`payouts refused the question: ${answer.refused}`)
  if ('unknown' in answer.ok) throw new Error(answer.ok.unknown)
  return answer.ok
}

const setting = (name: string, to: 'refused' | 'allowed', does: string) =>
  changing({
    does,
    usage: `accounts ${name} <bank> <account number> | <payoutId> | <acc_…> --reason <why> [--by <who>]`,
    takes: [1, 2],
    faultIn,
    change: async ({ words, reason, by }, operator) => {
      const of = namedIn(words)!
      const { account, revision, isRefused, isAllowed } = await found(operator, of)
      // A repeated command finds the account so, and is the same command.
      const isSo = to === 'refused' ? isRefused : isAllowed
      const cause = `revision ${isSo ? revision : revision + 1}`
      const command = { verb: `accounts ${name}`, target: account, cause, reason, by }
      return [
        await perform(operator, command, (id) =>
          askOutcome(operator, AccountRefuse, { command: id, by, reason, of, to, revision }),
        ),
      ]
    },
  })

export type RefusedAccount = {
  /** Name of the account, a keyed hash. */
  account: string
  bank: string
  since: Date
  by: string
  reason: string
  /** Cash-outs to the account whose details are not erased, and their wallets. */
  cashouts: number
  wallets: number
  /** Cash-outs that are held before their payout. */
  held: string[]
}

/** Returns the bank accounts that operators refuse, longest refused first. */
export const listRefused = (sql: Sql): Promise<RefusedAccount[]> => sql<RefusedAccount[]>`
  select account, r.channel_code as bank, since, set_by as by, r.reason,
    count(p.id)::int as cashouts, count(distinct p.wallet)::int as wallets,
    coalesce(array_agg(p.id order by p.created_at)
      filter (where held_by_operator and state in ${sql([...unpaidStates])}), '{}') as held
  from payouts.refused_accounts r left join payouts.payouts p on p.account_mark = any(r.marks)
  where since is not null group by account order by since`

const lineOf = ({ account, bank, since, by, reason, cashouts, wallets, held }: RefusedAccount): string =>
  [
    `${since.toISOString()}  ${account}  ${bank}  refused by ${by}: ${reason}`,
    `  ${counted(cashouts, 'cash-out')} of ${counted(wallets, 'wallet')}${held.length > 0 ? `, held: ${held.join(', ')}` : ''}`,
  ].join('\n')

const list = reading({
  does: 'list the bank accounts that are not paid, longest refused first, with the cash-outs held for them',
  usage: 'accounts list',
  read: async (_, { sql }): Promise<CommandResult> => {
    const refused = await listRefused(sql)
    const text = refused.map(lineOf).join('\n') || 'no refused bank accounts'
    return { text, data: { refused }, ok: refused.every(({ held }) => held.length === 0) }
  },
})

export const accounts = among('bank accounts not to pay: list, refuse, allow', {
  list,
  refuse: setting(
    'refuse',
    'refused',
    'refuse cash-outs to a bank account, and hold those whose payout is not ordered',
  ),
  allow: setting('allow', 'allowed', 'allow a refused bank account again; its held cash-outs stay held'),
})
