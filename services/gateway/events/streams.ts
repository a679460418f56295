type Stream = {
  readonly wallet: string
  readonly address: string
  readonly poke: () => void
  readonly close: () => void
}

/**
 * Opens the register of streams. A stream beyond `perWallet` ends the oldest one of its wallet, and one beyond `max` the
 * oldest one of the address that has most: wallets cost nothing, so a caller that opens streams for many of them gives
 * way to others, and nobody is refused.
 */
export function openStreams({ max, perWallet }: { max: number; perWallet: number }) {
  /** The set keeps the order of arrival. */
  const open = new Set<Stream>()
  return {
    /** Adds a stream. Returns a function to call when it has ended. */
    enter: (stream: Stream): (() => void) => {
      const own = [...open].filter(({ wallet }) => wallet === stream.wallet)
      if (own.length >= perWallet) own[0]!.close()
      else if (open.size >= max) {
        const busiest = busiestOf(open)
        const [oldest] = [...open].filter(({ address }) => address === busiest)
        oldest?.close()
      }
      open.add(stream)
      return () => void open.delete(stream)
    },
    /** Makes the streams of a wallet look at it now. */
    poke: (wallet: string): void => {
      for (const stream of open) if (stream.wallet === wallet) stream.poke()
    },
  }
}

/** Returns the address with most streams; among equals, the one whose stream is oldest. */
function busiestOf(open: ReadonlySet<Stream>): string | undefined {
  const counts = new Map<string, number>()
  for (const { address } of open) counts.set(address, (counts.get(address) ?? 0) + 1)
  let most: string | undefined
  for (const [address, count] of counts) if (most === undefined || count > counts.get(most)!) most = address
  return most
}
