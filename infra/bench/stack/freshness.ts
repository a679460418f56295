import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { fields } from '../../../services/indexer-reader/config.ts'
import type { Figure } from '../figure.ts'
import type { Options } from '../options.ts'
import { arrive } from './arrivals.ts'
import { watchFinality } from './finality.ts'
import { openHand } from './hand.ts'
import { quantileFigures } from './quantiles.ts'

/** Not a multiple of the block time: samples meet every phase of a block and of the reader's poll. */
const paceMs = 317
const lookMs = 10

/** Time from an event's block being final to the event being in the answer of `/verify`. */
export async function benchFreshness(stack: Stack, options: Options): Promise<Figure[]> {
  const hand = await openHand(stack)
  using finality = watchFinality(hand)
  const sample = await arrive(options.samples, paceMs, async () => {
    const wallet = privateKeyToAddress(generatePrivateKey())
    const block = await hand.blockOf(await hand.verify(wallet))
    const finalAt = await finality.finalAt(block)
    await waitUntil(
      'an event being visible',
      () => isVisible(`${stack.info.gateway}/verify/${wallet}`),
      30_000,
      lookMs,
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
