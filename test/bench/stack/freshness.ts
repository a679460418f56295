import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { fields } from '../../../services/indexer-reader/config'
import type { Figure } from '../figure'
import type { Options } from '../options'
import { arrive } from './arrivals'
import { watchFinality } from './finality'
import { openHand } from './hand'
import { quantileFigures } from './quantiles'

/** Interval in ms, no multiple of the block time, so that samples cover every phase. */
const paceMs = 317
const askEveryMs = 10

/** Measures the time from a block's finality until `/verify` returns its event. */
export async function benchFreshness(stack: Stack, options: Options): Promise<Figure[]> {
  const hand = await openHand(stack)
  using finality = watchFinality(hand)
  const sample = await arrive(options.samples, paceMs, async () => {
    const wallet = privateKeyToAddress(generatePrivateKey())
    const block = await hand.blockOf(await hand.verify(wallet))
    const finalAt = await finality.finalAt(block)
    await waitUntil(
      'the event to be visible',
      () => isVisible(`${stack.info.gateway}/verify/${wallet}`),
      30_000,
      askEveryMs,
    )
    return performance.now() - finalAt
  })
  const pollMs = Number(fields.POLL_MS.fallback)
  return quantileFigures('freshness', 'final to visible in /verify', sample, {
    value: pollMs,
    to: `poll interval, ${pollMs} ms`,
  })
}

async function isVisible(url: string): Promise<boolean> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) })
  const { history } = (await answer.json()) as { history: { verifiedAt: string | null } | null }
  return history?.verifiedAt != null
}
