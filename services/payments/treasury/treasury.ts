import { type Ask, askOr } from '#platform/bus/ask'
import { type Clock, isRecent } from '#platform/clock'
import type { Database } from '#platform/db/open'
import { type Log, openLogThrottled } from '#platform/log'
import { idle, type Loop, startLoop } from '#platform/loop'
import { openReading, type Reading } from '#platform/reading'
import { ChainTreasury } from '#shared/messages/chain'
import { PayoutsOwed } from '#shared/messages/payouts'
import { freeMicro, type TreasuryCover } from './cover'
import { findOwed, storeOwed, sumPromised } from './promise.store'

export type TreasuryReading = Reading<TreasuryCover>

type Means = {
  readonly database: Database
  readonly ask: Ask
  readonly clock: Clock
  readonly log: Log
  readonly readingMaxMs: number
}

const askDeadlineMs = 1_500
/** Age of a reading, in ms, above which a request waits for a new one. */
const freshMs = 10_000
/** Interval after which an unchanged figure from payouts is stored again, in ms. */
const storeAfterMs = 60_000

/**
 * Reads the chain before payouts. Payouts counts a cash-out from its order to take AUSD, so its figure
 * includes everything that was taken by the time of the chain's answer.
 */
export function openTreasury(means: Means): TreasuryReading {
  const { database, ask, clock, log, readingMaxMs } = means
  const logSeldom = openLogThrottled(log, clock)
  const logFailure = (of: string): undefined => {
    logSeldom.warn(of, { of }, 'treasury reading failed')
  }
  let stored: { micro: bigint; at: number } | undefined

  const owedBy = async (readAt: string): Promise<bigint | undefined> => {
    const request = { since: readAt }
    const answer = await askOr(ask, PayoutsOwed, request, 'provider_unavailable', askDeadlineMs)
    if ('refused' in answer) return reading.last()?.owedMicro ?? (await database.read(findOwed))
    const micro = BigInt(answer.ok.ausd)
    if (stored?.micro !== micro || !isRecent(stored.at, clock(), storeAfterMs)) {
      await database.run((db) => storeOwed(db, micro, new Date(readAt)))
      stored = { micro, at: clock() }
    }
    return micro
  }
  const read = async (): Promise<TreasuryCover | undefined> => {
    const chain = await askOr(ask, ChainTreasury, {}, 'chain_unavailable', askDeadlineMs)
    if ('refused' in chain) return logFailure('treasury')
    const { balance, drawable, ordered, creditMax, repayMax, readAt } = chain.ok
    const owedMicro = await owedBy(readAt)
    if (owedMicro === undefined) return logFailure('cash-outs')
    return {
      balanceMicro: BigInt(balance),
      drawableMicro: BigInt(drawable),
      orderedMicro: BigInt(ordered),
      owedMicro,
      creditMaxMicro: BigInt(creditMax),
      repayMaxMicro: BigInt(repayMax),
      readAt: new Date(readAt),
    }
  }
  const reading = openReading({ read, clock, freshMs, maxMs: readingMaxMs, waitMaxMs: 2 * askDeadlineMs })
  return reading
}

/** Returns figures of the treasury for statistics: amounts in 10⁻⁶ AUSD, ages in ms. */
export async function coverFigures({ database, clock }: Pick<Means, 'database' | 'clock'>, treasury: TreasuryReading) {
  const last = treasury.last()
  if (!last) return undefined
  const promisedMicro = await database.read((db) => sumPromised(db, last.readAt))
  return {
    treasuryMicro: Number(last.balanceMicro),
    drawableMicro: Number(last.drawableMicro),
    owedToCashoutsMicro: Number(last.owedMicro),
    promisedMicro: Number(promisedMicro),
    freeMicro: Number(freeMicro(last, promisedMicro)),
    treasuryAgeMs: Math.max(0, clock() - last.readAt.getTime()),
  }
}

/** Poll interval while the chain is unreachable, in ms. */
const everyMs = 2_000
/** Poll interval while the chain answers, in ms: well below `freshMs`, so that requests rarely wait. */
const idleMs = 5_000
const alarmEveryMs = 30_000
const alarmAgainMs = 3_600_000

export function watchTreasury(means: Means & { readonly treasury: TreasuryReading; readonly lowMicro: bigint }): Loop {
  const { clock, log, treasury, lowMicro, readingMaxMs } = means
  const call = openLogThrottled(log, clock, alarmAgainMs)
  const startedAt = clock()
  let lookedAt = 0
  const look = async () => {
    const figures = await coverFigures(means, treasury)
    const ageMs = figures?.treasuryAgeMs ?? clock() - startedAt
    if (ageMs > readingMaxMs) call.alarm('unread', { ageMs }, 'treasury unreadable, top-ups refused')
    else if (figures && figures.freeMicro < Number(lowMicro)) call.alarm('low', figures, 'treasury low on AUSD')
  }
  const work = async () => {
    const before = treasury.last()
    await treasury.refresh()
    if (!isRecent(lookedAt, clock(), alarmEveryMs)) {
      lookedAt = clock()
      await look()
    }
    return treasury.last() === before ? undefined : idle
  }
  return startLoop({ name: 'treasury', everyMs, idleMs, log, work })
}
