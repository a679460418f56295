import { randomUUID } from 'node:crypto'
import { askOr } from '#platform/bus/ask'
import { type Handler, handler } from '#platform/bus/serve'
import { lockNamed } from '#platform/db/lock'
import { pause, within } from '#platform/deadline'
import { ChainAccount } from '#shared/messages/chain'
import { AccountCheck } from '#shared/messages/payouts'
import type { ReadRequestOf } from '#shared/messages/topic'
import { type Answer, ok, type Refusal, refuse } from '#shared/refusals'
import { lockWallet } from '../cashout.store'
import type { Context } from '../context'
import { checkAccount } from '../decide'
import type { HolderVerdict, PayoutChannel } from '../provider'
import { findListed } from '../request/bank'
import { countChecks, countChecksOf, countChecksTo, findCheck, insertCheck, storeVerdict } from './check.store'

/** Checks allowed per day in Jakarta, per wallet and per bank account over all wallets. */
export const checksPerDayMax = 3

/** Deadlines, in ms, that give the user an answer within 4 s. */
const chainMs = 1_700
const providerMs = 2_000
/** Age, in ms, below which a check without a verdict is still in progress; a repeated request waits for it. */
const freshMs = 5_000
const pollMs = 100

type CheckRequest = ReadRequestOf<typeof AccountCheck>

/**
 * Compares the holder of a bank account with the user's name; only the verdict is kept. A check counts before
 * the provider is asked. The limits stop a search for names or numbers.
 */
export const answerAccountCheck = (context: Context): Handler =>
  handler(AccountCheck, async (asked) => {
    const listed = await findListed(context.channels, asked.bank.channelCode)
    if (!listed) return ok({ verdict: 'cannot_tell' })
    const refused = await refusalOf(context, asked, listed.channel)
    if (refused) return refused
    const counted = await countCheck(context, asked)
    if ('refused' in counted) return counted
    return ok({ verdict: await verdictOf(context, asked, counted.ok) })
  })

async function refusalOf(
  context: Context,
  { wallet, bank }: CheckRequest,
  channel: PayoutChannel | undefined,
): Promise<Refusal | undefined> {
  const wrong = checkAccount(bank, channel, context.accountLengths)
  if (wrong) return refuse(wrong)
  const account = await askOr(context.ask, ChainAccount, { wallet }, 'chain_unavailable', chainMs)
  if ('refused' in account) return account
  return account.ok.verified ? undefined : refuse('not_verified')
}

type CountedCheck = { readonly id: string } | { readonly repeats: HolderVerdict | null; readonly mark: string }

function countCheck({ database, safe, accountChecksDayMax }: Context, { wallet, bank }: CheckRequest) {
  const mark = safe.checkMarkOf(wallet, bank)
  const marks = safe.marksOf(bank)
  return database.transaction(async (tx): Promise<Answer<CountedCheck>> => {
    // guard: account checks of a wallet are counted one after another
    lockWallet(tx, wallet)
    const known = await findCheck(tx, wallet, mark)
    const isSettled = known?.verdict === 'match' || known?.verdict === 'no_match'
    if (known && (isSettled || known.ageMs < freshMs)) return ok({ repeats: known.verdict, mark })
    if ((await countChecksOf(tx, wallet)) >= checksPerDayMax) return refuse('account_checks_too_many')
    lockNamed(tx, 'account checks')
    const isOver = (await countChecksTo(tx, marks)) >= checksPerDayMax || (await countChecks(tx)) >= accountChecksDayMax
    if (isOver) return refuse('account_checks_too_many')
    const id = randomUUID()
    await insertCheck(tx, { id, wallet, requestMark: mark, accountMark: marks[0]! })
    return ok({ id })
  })
}

async function verdictOf(context: Context, asked: CheckRequest, counted: CountedCheck): Promise<HolderVerdict> {
  const { database, log, provider } = context
  if ('repeats' in counted) return counted.repeats ?? awaitVerdict(context, asked.wallet, counted.mark)
  const asking = within(provider.checkHolder(asked.bank), providerMs, 'the account check')
  const verdict = await asking.catch((error) => {
    // The provider's own text is not logged, because it may contain a name.
    log.warn({ error: (error as Error).name, wallet: asked.wallet }, 'account check not answered')
    return 'cannot_tell' as const
  })
  await database.run((db) => storeVerdict(db, counted.id, verdict))
  log.info({ wallet: asked.wallet, verdict }, 'account checked')
  return verdict
}

async function awaitVerdict({ database }: Context, wallet: `0x${string}`, mark: string): Promise<HolderVerdict> {
  for (;;) {
    const found = await database.read((db) => findCheck(db, wallet, mark))
    if (!found || found.verdict || found.ageMs >= freshMs) return found?.verdict ?? 'cannot_tell'
    await pause(pollMs)
  }
}
