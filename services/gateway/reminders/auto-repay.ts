import type { Static } from 'typebox'
import { type Reaction, reactTo } from '#platform/bus/reaction'
import { Malformed } from '#platform/bus/verdict'
import type { Tx } from '#platform/db/open'
import { announce, announceAll, announcement } from '#platform/db/outbox.store'
import { failpoint } from '#platform/failpoint'
import { messageIdFor } from '#shared/ids'
import type { ChainAccount } from '#shared/messages/chain'
import {
  type AutoRepayFailure,
  type AutoRepaySource,
  autoRepayFailures,
  CreditAutorepay,
} from '#shared/messages/credit'
import { AutorepayOrdered, relayFailed, relaySettled } from '#shared/messages/relay'
import type { Context } from '../context'
import { outbox } from '../schema.store'
import {
  causeOf,
  type Ending,
  endTry,
  findUnanswered,
  insertTry,
  type Planned,
  type Sum,
  type Try,
} from './auto-repay.store'

// The borrower allows it on the chain, whose contract decides when and how much. A try is an order to call it.

/** The permission of an account, with what is left of its bound in the open cycle, in 10⁻⁶ AUSD. */
export type Permission = { readonly leftMicro: bigint; readonly source: AutoRepaySource; readonly startsAt: number }

type Account = Static<(typeof ChainAccount)['answer']>

/** Returns the permission by which the open cycle of an account may still be repaid, or null. `startsAt` is in unix seconds. */
export function permissionOf({ autoRepay }: Pick<Account, 'autoRepay'>): Permission | null {
  if (!autoRepay || autoRepay.startsAt === null) return null
  const { maxPerCycle, taken, source, startsAt } = autoRepay
  const leftMicro = BigInt(maxPerCycle) - BigInt(taken)
  if (leftMicro <= 0n) return null
  return { leftMicro, source, startsAt: Number(startsAt) }
}

/**
 * Returns true if a try would find enough in the source, as far as the account shows it: it does not show the allowance
 * of the credit line.
 */
export const isCovered = (
  account: Pick<Account, 'drawn' | 'balance' | 'collateral'>,
  permission: Permission,
): boolean =>
  BigInt(permission.source === 'wallet' ? account.balance.ausd : account.collateral.value) >=
  neededMicro(account, permission)

/** Returns what a try takes: the debt, or what is left of the bound if that is less. */
export function neededMicro({ drawn }: Pick<Account, 'drawn'>, { leftMicro }: Permission): bigint {
  const drawnMicro = BigInt(drawn)
  return drawnMicro < leftMicro ? drawnMicro : leftMicro
}

const daySeconds = 86_400
/**
 * Bounds in seconds of the interval in which a debt in its last day is looked at. The borrower may allow the repayment at
 * any time, and it is in time until the due date.
 */
export const [lookMin, lookMax] = [60, 3_600] as const
/** Times in seconds before the due date of the second and the third try. The daily ones that follow continue the second. */
const [secondBefore, thirdBefore] = [7_200, 900]
/** The last step before the due date, which is the third. */
export const lastInTime = 2

/** A step of the plan by which a debt is repaid, with the time from which its try is due, in unix seconds of the chain. */
export type Step = { readonly step: number; readonly plannedAt: number }

/** Decision about a debt: the step whose try is due, and the next time to look, in unix seconds. */
type Decision = { readonly due: Step | null; readonly lookAt: number | null }

/**
 * Decides whether a try to repay a debt is due. The first is due a day before the due date, so that a borrower who lacks
 * AUSD hears of it in time; the second two hours before it, for a borrower who has added AUSD since; the third a quarter of
 * an hour before it, for one who heard of the second; then one each day until the default.
 */
export function decideAutoRepay(
  { dueAt, defaultsAt }: { readonly dueAt: number; readonly defaultsAt: number },
  permission: Permission | null,
  now: number,
): Decision {
  if (now > defaultsAt) return { due: null, lookAt: null }
  const from = permission?.startsAt ?? dueAt - daySeconds
  if (now < from) return { due: null, lookAt: from }
  if (!permission) {
    const leftSeconds = (now < dueAt ? dueAt : defaultsAt) - now
    return { due: null, lookAt: now + clamp(Math.floor(leftSeconds / 2), lookMin, lookMax) }
  }
  const second = dueAt - Math.min(secondBefore, Math.floor((dueAt - from) / 2))
  const third = dueAt - Math.min(thirdBefore, Math.floor((dueAt - from) / 4))
  if (now < second) return { due: { step: 0, plannedAt: from }, lookAt: second }
  if (now < third) return { due: { step: 1, plannedAt: second }, lookAt: third }
  const days = Math.floor((now - second) / daySeconds)
  const plannedAt = days === 0 ? third : second + days * daySeconds
  return { due: { step: lastInTime + days, plannedAt }, lookAt: second + (1 + days) * daySeconds }
}

/**
 * Returns the number of the try of a step, or null if it was ordered. A pause of the contract moves the due date and with it
 * the plan, so that each step has a try again, by a number that no other has.
 */
export function attemptOf({ step, plannedAt }: Step, tries: readonly Planned[]): number | null {
  const isTried = tries.some((one) => (one.plannedAt === null ? one.attempt === step : one.plannedAt === plannedAt))
  return isTried ? null : Math.max(step, ...tries.map(({ attempt }) => attempt + 1))
}

const clamp = (value: number, least: number, most: number) => Math.min(most, Math.max(least, value))

/** Orders a try, once. Returns false if any instance ordered it before. */
export async function orderTry(tx: Tx, { plannedAt, ...one }: Planned & Try, sum: Sum): Promise<boolean> {
  // guard: a try to repay a debt automatically is ordered once
  if (!(await insertTry(tx, { ...one, plannedAt, ...sum }))) return false
  announce(tx, outbox, AutorepayOrdered, messageIdFor(AutorepayOrdered, causeOf(one)), one)
  failpoint('gateway:repayment-ordered')
  return true
}

const repeatedMax = 500

/**
 * Repeats the orders of tries without an outcome, because a stream may have lost the order or its outcome. The intervals
 * double. The age of a try numbers its repetition, so that instances repeat it once.
 */
export async function repeatUnanswered({
  database,
  config: { recheckAfterMs },
  poke,
}: Pick<Context, 'database' | 'config' | 'poke'>): Promise<void> {
  const unanswered = await database.read((db) => findUnanswered(db, recheckAfterMs, repeatedMax))
  if (unanswered.length === 0) return
  const repeated = unanswered.map(({ ageMs, ...one }) => {
    const repeat = 1 + Math.max(0, Math.floor(Math.log2(ageMs / recheckAfterMs)))
    return announcement(AutorepayOrdered, messageIdFor(AutorepayOrdered, causeOf(one), repeat), one)
  })
  await database.transaction(async (tx) => announceAll(tx, outbox, repeated))
  poke()
}

function tryOf(cause: string): Try {
  const match = /^(0x[0-9a-f]{40}):([0-9]{1,9}):([0-9]{1,9})$/.exec(cause)
  if (!match) throw new Malformed(`"${cause.slice(0, 80)}" is not the cause of an automatic repayment`)
  return { wallet: match[1] as `0x${string}`, cycle: Number(match[2]), attempt: Number(match[3]) }
}

const isFailure = (reason: string): reason is AutoRepayFailure =>
  (autoRepayFailures as readonly string[]).includes(reason)

export function autoRepayReactions({ clock, log }: Pick<Context, 'clock' | 'log'>): readonly Reaction[] {
  const end = async (tx: Tx, cause: string, ending: Ending) => {
    const one = tryOf(cause)
    const endedAt = new Date(clock())
    if (!(await endTry(tx, one, ending, endedAt))) return
    const { outcome, reason, txHash, ausdMicro } = ending
    log.info({ ...one, outcome, reason }, 'automatic repayment ended')
    if (outcome === 'needless' || outcome === null) return
    const { wallet, cycle } = one
    announce(tx, outbox, CreditAutorepay, messageIdFor(CreditAutorepay, cause), {
      wallet,
      cycle,
      outcome,
      reason,
      ...(ausdMicro && { ausd: String(ausdMicro) }),
      txHash,
      occurredAt: endedAt.toISOString(),
    })
  }
  return [
    reactTo(relaySettled('autorepay'), {
      apply(tx, { cause, txHash, repaid }) {
        // What was ordered may differ from what the contract took, so it is not kept in its place.
        const sum = { ausdMicro: repaid ? BigInt(repaid.ausd) : null, source: repaid?.source ?? null }
        return end(tx, cause, { outcome: 'repaid', reason: null, txHash, ...sum })
      },
    }),
    reactTo(relayFailed('autorepay'), {
      apply(tx, { cause, reason }) {
        const isNeedless = reason === 'nothing_due'
        const why = isNeedless ? null : isFailure(reason) ? reason : 'reverted'
        return end(tx, cause, { outcome: isNeedless ? 'needless' : 'failed', reason: why, txHash: null })
      },
    }),
  ]
}
