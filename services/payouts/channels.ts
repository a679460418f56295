import type { Clock } from '#shared/clock'
import type { Log } from '#shared/log'
import type { Channel, PayoutProvider } from './payout-provider.ts'

export type Channels = {
  /** Undefined: not a bank the provider pays. Throws when no list could be had so far. */
  readonly find: (code: string) => Promise<Channel | undefined>
}

/** So often at most is a provider asked again that did not answer. */
const retryMs = 5_000

/** The provider's list of banks, fetched anew when it is old; an old one is better than none. */
export function openChannels(options: {
  provider: Pick<PayoutProvider, 'listChannels'>
  refreshMs: number
  clock: Clock
  log: Log
}): Channels {
  const { provider, refreshMs, clock, log } = options
  let byCode: ReadonlyMap<string, Channel> | undefined
  let dueAtMs = 0
  let fetching: Promise<void> | undefined

  const refresh = async () => {
    try {
      const list = await provider.listChannels()
      if (list.length === 0) throw new Error('the list of banks is empty')
      byCode = new Map(list.map((channel) => [channel.code, channel]))
      dueAtMs = clock() + refreshMs
    } catch (error) {
      dueAtMs = clock() + retryMs
      log.warn({ err: error, listed: byCode?.size ?? 0 }, 'list of banks could not be fetched')
      throw error
    } finally {
      fetching = undefined
    }
  }
  return {
    find: async (code) => {
      if (!byCode || clock() >= dueAtMs) {
        fetching ??= refresh()
        if (byCode)
          fetching.catch(() => {}) // Meanwhile the old list serves.
        else await fetching
      }
      return byCode?.get(code)
    },
  }
}
