import { randomUUID } from 'node:crypto'
import { idle, startLoop } from '#shared/loop'
import type { Context } from './context'
import { type Copy, handBackCopy, leaseCopy, renewCopy, seedCopies } from './copy.store'
import type { Lock, Quote } from './quote'
import { countEnd, mintQuoteId } from './quote-id'

/** What a mint works with. */
type MintContext = Pick<Context, 'database' | 'quoteSecrets' | 'quoteTtlMs' | 'clock' | 'log'>

/** Makes quotes, until it is disposed: then the number of this copy is handed back. */
export type Mint = AsyncDisposable & {
  /** A quote that lives from now on, or undefined while this copy has no number of its own. */
  readonly mint: (rate: Omit<Lock, 'expiresAtMs'>) => Quote | undefined
}

/** After a crash nobody else has a copy's number for so long; twice in it a renewal may fail. */
const usual = { leaseMs: 30_000, renewEveryMs: 10_000 }
/** Without a number, and after a failure. */
const againMs = 1_000
/**
 * More quotes of one moment than there is room for end a little later. So much later at most: else
 * the clock was set back, and another number is needed to make quotes of that time again.
 */
const laterMaxMs = 1_000

type Place = { readonly endMs: number; readonly count: number }

/**
 * Opens the mint of this process: every id it makes is one that nobody else makes. It holds a
 * number of a copy and makes quotes only with the ends that were given to it with the number, each
 * end with each count once. While Postgres is away it goes on until those ends are used up; without
 * a number it makes none.
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

/** The next end and count that were not used; from `wantedMs` on, when that is later. */
function placeAfter({ endMs, count }: Place, wantedMs: number): Place {
  if (wantedMs > endMs) return { endMs: wantedMs, count: 0 }
  return count + 1 < countEnd ? { endMs, count: count + 1 } : { endMs: endMs + 1, count: 0 }
}
