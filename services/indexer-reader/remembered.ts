import type { Address } from 'viem'
import type { Tx } from '#platform/db/open'
import type { WalletProjection } from './projection'
import { loadStandings, type Standings } from './record.store'

/** Most wallets in memory, which take about 10 MB; at this number memory is cleared. */
const walletsMax = 10_000

export type Remembered = {
  /** Loads wallets, from memory only if it was kept at this `sequence`, which counts the events of all instances. */
  readonly load: (tx: Tx, generation: number, wallets: ReadonlySet<Address>, sequence: number) => Promise<Standings>
  /** Keeps wallets in memory. Call it after the commit, with the sequence after it. */
  readonly keep: (standings: Standings, sequence: number) => void
}

/** Opens a cache of wallets: in a backfill most wallets recur soon, and a read costs as much as a write. */
export function openRemembered(): Remembered {
  const known: Standings = new Map()
  let knownAt: number | undefined
  return {
    load: async (tx, generation, wallets, sequence) => {
      if (knownAt !== sequence) known.clear()
      const others = new Set([...wallets].filter((wallet) => !known.has(wallet)))
      const standings = await loadStandings(tx, generation, others)
      for (const wallet of wallets) {
        const standing = known.get(wallet)
        if (standing) standings.set(wallet, standing)
      }
      return standings
    },
    keep: (standings, sequence) => {
      if (known.size + standings.size > walletsMax) known.clear()
      for (const [wallet, standing] of standings) known.set(wallet, asLoaded(standing))
      knownAt = sequence
    },
  }
}

const asLoaded = (standing: WalletProjection): WalletProjection =>
  standing.closed.length === 0 ? standing : { ...standing, closed: reversible(standing) }

const reversible = ({ closed, held }: WalletProjection) =>
  closed.filter(({ number }) => held.some(({ cycle }) => cycle === number))
