import type { Address } from 'viem'
import type { Tx } from '#shared/db/open'
import type { Standing } from './projection'
import { loadStandings, type Standings } from './record.store'

/** Wallets that are remembered at most, some 10 MB: then it begins anew. */
const walletsMax = 10_000

/** Where wallets stood when this process last wrote, for one generation. */
export type Remembered = {
  /**
   * Where these wallets stand in a generation of so many events: from memory, and from Postgres
   * what is not there. Every event that anybody adds is counted, so at another count memory is of
   * no use.
   */
  readonly load: (
    tx: Tx,
    generation: number,
    wallets: ReadonlySet<Address>,
    eventCount: number,
  ) => Promise<Standings>
  /** What was written, once it is committed, and how many events there are since. */
  readonly keep: (standings: Standings, eventCount: number) => void
}

/**
 * In a backfill most wallets come again soon, and to read a row costs what it costs to write it.
 */
export function openRemembered(): Remembered {
  const known: Standings = new Map()
  let knownAt: number | undefined
  return {
    load: async (tx, generation, wallets, eventCount) => {
      if (knownAt !== eventCount) known.clear()
      const others = new Set([...wallets].filter((wallet) => !known.has(wallet)))
      const standings = await loadStandings(tx, generation, others)
      for (const wallet of wallets) {
        const standing = known.get(wallet)
        if (standing) standings.set(wallet, standing)
      }
      return standings
    },
    keep: (standings, eventCount) => {
      if (known.size + standings.size > walletsMax) known.clear()
      for (const [wallet, standing] of standings) known.set(wallet, asLoaded(standing))
      knownAt = eventCount
    },
  }
}

/** Without the closed cycles that nothing can change any more. */
const asLoaded = (standing: Standing): Standing =>
  standing.closed.length === 0 ? standing : { ...standing, closed: reversible(standing) }

const reversible = ({ closed, held }: Standing) =>
  closed.filter(({ number }) => held.some(({ cycle }) => cycle === number))
