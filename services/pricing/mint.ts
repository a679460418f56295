import { randomUUID } from 'node:crypto'
import { idle, startLoop } from '#shared/loop'
import type { Context } from './context'
import { type Copy, handBackCopy, leaseCopy, renewCopy, seedCopies } from './copy.store'
import type { Lock, Quote } from './quote'
import { countEnd, mintQuoteId } from './quote-id'

/** Dependencies of a mint. */
type MintContext = Pick<Context, 'database' | 'quoteSecrets' | 'quoteTtlMs' | 'clock' | 'log'>

/** Issues quotes until disposed, which releases the instance number. */
export type Mint = AsyncDisposable & {
  /** Issues a quote; returns undefined while this instance has no number. */
  readonly mint: (rate: Omit<Lock, 'expiresAtMs'>) => Quote | undefined
}

/** Time until a number is free after a crash; the lease survives two failed renewals. */
const usual = { leaseMs: 30_000, renewEveryMs: 10_000 }
/** Retry interval without a number and after a failure. */
const againMs = 1_000
/**
 * Maximum extra lifetime of quotes when one millisecond has more than fit. A larger one means that
 * the clock was set back, so another number is needed.
 */
const laterMaxMs = 1_000

type Place = { readonly endMs: number; readonly count: number }

/**
 * Opens the mint of this process, whose ids are unique: it leases an instance number and uses each
 * expiry time granted by the lease, with each count, once. While Postgres is down it continues
 * until the granted range is used up; without a number it issues no quotes.
 */
export async function openMint(context: MintContext, lasting = usual): Promise<Mint> {
  const { database, quoteSecrets, quoteTtlMs: ttlMs, clock, log } = context
  const [secret] = quoteSecrets
  const terms = { ttlMs, leaseMs: lasting.leaseMs }
  let copy: Copy | undefined
  let last: Place = { endMs: 0, count: 0 }

  const lease = async () => {
    await seedCopies(database)
    const leased = await leaseCopy(database, randomUUID(), terms)
    if (!leased) return void log.error({ alarm: true }, 'no free instance id')
    copy = leased
    last = { endMs: 0, count: 0 }
    log.info({ copy: leased.number }, 'instance id leased')
  }
  const hold = async () => {
    if (copy && last.endMs > clock() + ttlMs + laterMaxMs) copy = undefined
    if (copy) copy = await renewCopy(database, copy, terms)
    if (!copy) await lease()
    return copy && idle
  }

  await hold().catch((error) => log.warn({ err: error }, 'instance id not leased yet'))
  const loop = startLoop({
    ...{ name: 'copy number', everyMs: againMs, idleMs: lasting.renewEveryMs, log, work: hold },
  })
  return {
    mint: (rate) => {
      if (!copy) return undefined
      const next = placeAfter(last, Math.max(clock() + ttlMs, copy.endsFromMs))
      if (next.endMs >= copy.endsUntilMs || next.endMs > clock() + ttlMs + laterMaxMs)
        return undefined
      last = next
      const lock = { ...rate, expiresAtMs: next.endMs }
      return { id: mintQuoteId(secret, lock, { copy: copy.number, count: next.count }), ...lock }
    },
    [Symbol.asyncDispose]: async () => {
      await loop[Symbol.asyncDispose]()
      const held = copy
      copy = undefined
      if (!held) return
      const handedBack = handBackCopy(database, held, Math.max(last.endMs + 1, held.endsFromMs))
      await handedBack.catch((error) => log.warn({ err: error }, 'instance id release failed'))
    },
  }
}

/** Returns the next unused expiry time and count, from `wantedMs` if that is later. */
function placeAfter({ endMs, count }: Place, wantedMs: number): Place {
  if (wantedMs > endMs) return { endMs: wantedMs, count: 0 }
  return count + 1 < countEnd ? { endMs, count: count + 1 } : { endMs: endMs + 1, count: 0 }
}
