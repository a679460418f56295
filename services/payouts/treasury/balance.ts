import type { Clock } from '#platform/clock'
import type { Database } from '#platform/db/open'
import { type Log, openLogThrottled } from '#platform/log'
import { type Loop, startLoop } from '#platform/loop'
import { openReading, type Reading } from '#platform/reading'
import type { PayoutProvider } from '../provider'
import { sumPromisedFiat } from './promise.store'

/** Rupiah at the provider; payouts made by `readAt` are deducted. */
export type Balance = { readonly minor: bigint; readonly readAt: Date }

export type BalanceReading = Reading<Balance>

type Means = {
  readonly database: Database
  readonly provider: Pick<PayoutProvider, 'balance'>
  readonly clock: Clock
  readonly log: Log
  readonly readingMaxMs: number
}

/** Longest wait of a request for a new balance, in ms. */
const waitMaxMs = 1_700

export function openBalance({ provider, clock, log, readingMaxMs }: Means): BalanceReading {
  const logSeldom = openLogThrottled(log, clock)
  const read = async (): Promise<Balance | undefined> => {
    const readAt = new Date(clock())
    try {
      return { minor: await provider.balance(), readAt }
    } catch (error) {
      logSeldom.warn('unread', { err: error }, 'provider balance read failed')
      return undefined
    }
  }
  return openReading({ read, clock, freshMs: readingMaxMs, maxMs: readingMaxMs, waitMaxMs })
}

export async function coverFigures({ database, clock }: Pick<Means, 'database' | 'clock'>, balance: BalanceReading) {
  const last = balance.last()
  if (!last) return undefined
  const unpaidMinor = await database.read((db) => sumPromisedFiat(db, last.readAt))
  return {
    balanceMinor: Number(last.minor),
    unpaidMinor: Number(unpaidMinor),
    freeMinor: Number(last.minor - unpaidMinor),
    balanceAgeMs: Math.max(0, clock() - last.readAt.getTime()),
  }
}

const alarmAgainMs = 3_600_000

export function watchBalance(
  means: Means & { readonly balance: BalanceReading },
  settings: { readonly balanceEveryMs: number; readonly balanceLowIdr: bigint },
): Loop {
  const { clock, log, balance, readingMaxMs } = means
  const { balanceEveryMs: everyMs, balanceLowIdr: lowMinor } = settings
  const call = openLogThrottled(log, clock, alarmAgainMs)
  const startedAt = clock()
  const work = async () => {
    await balance.refresh()
    const figures = await coverFigures(means, balance)
    const ageMs = figures?.balanceAgeMs ?? clock() - startedAt
    if (ageMs > readingMaxMs) call.alarm('unread', { ageMs }, 'provider balance unreadable, cash-outs refused')
    else if (figures && figures.freeMinor < Number(lowMinor)) call.alarm('low', figures, 'provider low on rupiah')
  }
  return startLoop({ name: 'balance', everyMs, log, work })
}
