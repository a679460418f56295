import { type Handler, handler } from '#platform/bus/serve'
import type { Tx } from '#platform/db/open'
import { AccountFind, AccountRefuse } from '#shared/messages/payouts'
import type { ReadRequestOf } from '#shared/messages/topic'
import { ok } from '#shared/refusals'
import { findCashout, holdUnpaidTo, listUnpaidTo, lockAccount } from '../cashout.store'
import type { Context } from '../context'
import { checkAccount } from '../decide'
import { findListed } from './bank'
import { findRefusal, findRefusalNamed, type RefusedAccount, storeRefusal } from './refusal.store'

/** Bank account as an operator names it: by bank and number, by one of its cash-outs, or as `accounts list` does. */
type Named = ReadRequestOf<typeof AccountFind>['of']

type Account = { readonly account: string; readonly marks: readonly string[]; readonly channelCode: string }

const accountPrefix = 'acc_'

/** Names a bank account by its hashes, so that no number leaves this service. Returns a text for the operator if there is none. */
async function accountOf(tx: Tx, { safe }: Context, of: Named): Promise<Account | { readonly unknown: string }> {
  if ('account' in of) {
    const row = await findRefusalNamed(tx, of.account)
    return row ?? { unknown: `${of.account} is no account of the list` }
  }
  if (!('payoutId' in of)) return named(safe.marksOf(of), of.channelCode)
  const cashout = await findCashout(tx, of.payoutId)
  if (!cashout) return { unknown: `there is no cash-out ${of.payoutId}` }
  const { id, channelCode, bankDetails: box, bankDetailsKeyId: keyId } = cashout
  if (box === '') return { unknown: `the bank account of ${id} is erased: name it by bank and number` }
  return named(safe.marksOf({ channelCode, ...safe.open({ keyId, box }, id) }), channelCode)
}

const named = (marks: readonly string[], channelCode: string): Account => ({
  account: accountPrefix + marks[0],
  marks,
  channelCode,
})

type Known = Pick<RefusedAccount, 'since' | 'marks' | 'revision'>

/** Returns true if the refusal stands, and also recognises the account under every present key. */
export const isRefusedUnder = (known: Known | undefined, marks: readonly string[]): boolean =>
  known !== undefined && known.since !== null && marks.every((mark) => known.marks.includes(mark))

/**
 * Decides about a command of an operator who saw `revision`, or 0 before the first refusal. `same`: nothing to change.
 * `stale`: another command has changed the refusal since. A refusal under an earlier key is made again under the present ones.
 */
export function decideRefusal(
  known: Known | undefined,
  asked: { readonly to: 'refused' | 'allowed'; readonly revision: number; readonly marks: readonly string[] },
): 'change' | 'same' | 'stale' {
  const isSame = asked.to === 'refused' ? isRefusedUnder(known, asked.marks) : !known?.since
  if (isSame) return 'same'
  return (known?.revision ?? 0) === asked.revision ? 'change' : 'stale'
}

type Request = ReadRequestOf<typeof AccountRefuse>

/**
 * Refuses a bank account for an operator, or allows it again. A cash-out to it whose payout is not ordered is held in the same
 * transaction, and stays held when the account is allowed, because another operator may hold it too. A retry changes nothing.
 */
const setRefusal = (context: Context, { of, to, revision, by, reason }: Request) =>
  context.database.transaction(async (tx): Promise<{ done: string } | { refused: string }> => {
    const found = await accountOf(tx, context, of)
    if ('unknown' in found) return { refused: found.unknown }
    const { marks, channelCode } = found
    // guard: a cash-out to a bank account is stored before its refusal and held, or after it and refused
    for (const mark of marks) lockAccount(tx, mark)
    const known = await findRefusal(tx, marks)
    const account = known?.account ?? found.account
    const allMarks = [...new Set([...marks, ...(known?.marks ?? [])])]
    const decided = decideRefusal(known, { to, revision, marks })
    if (decided === 'stale') return { refused: `the refusal of ${account} has changed: look again` }
    if (decided === 'change') {
      const row = { account, marks: allMarks, channelCode: channelCode || (known?.channelCode ?? '') }
      const isRefused = to === 'refused'
      await storeRefusal(tx, { ...row, isRefused, revision: revision + 1, setBy: by, reason })
      if (isRefused) await holdUnpaidTo(tx, allMarks)
      context.log.info({ account, to, by, reason }, 'bank account refused or allowed by operator')
    }
    const { held, ordered } = await listUnpaidTo(tx, allMarks)
    const then = [
      ...(held.length > 0 ? [`held until \`cashouts release\` or \`cancel\`: ${held.join(', ')}`] : []),
      ...(ordered.length > 0 ? [`already ordered at the provider: ${ordered.join(', ')}`] : []),
    ]
    return { done: [`${account} is ${to}`, ...then].join('; ') }
  })

/**
 * Returns why a bank account cannot be one that we pay: then its refusal would protect nobody, because the operator mistyped it.
 * Undefined if it can be, or if there is no list of banks. Its number is in no text.
 */
async function accountFault(context: Context, { of, to }: Request): Promise<{ refused: string } | undefined> {
  if (to !== 'refused' || !('channelCode' in of)) return undefined
  const listed = await findListed(context.channels, of.channelCode)
  const fault = listed && checkAccount(of, listed.channel, context.accountLengths)
  const is = fault === 'bank_unknown' ? 'is no bank that we pay to' : 'has no account number of this length'
  // guard: a bank account that an operator refuses is one that we pay
  if (fault) return { refused: `${of.channelCode} ${is}: nothing is refused` }
  return undefined
}

const findAccount = (context: Context, of: Named) =>
  context.database.transaction(async (tx) => {
    const found = await accountOf(tx, context, of)
    if ('unknown' in found) return found
    const known = await findRefusal(tx, found.marks)
    const { account = found.account, revision = 0 } = known ?? {}
    return { account, revision, isRefused: isRefusedUnder(known, found.marks), isAllowed: !known?.since }
  })

export const answerRefusals = (context: Context): Handler[] => [
  handler(AccountFind, async ({ of }) => ok(await findAccount(context, of))),
  handler(AccountRefuse, async (asked) =>
    ok((await accountFault(context, asked)) ?? (await setRefusal(context, asked))),
  ),
]
