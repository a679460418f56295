import type { Address } from 'viem'
import type { RunningStack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { placeOf } from '#infra/operations/place'
import { recordFromChain } from '#infra/operations/record/chain-record'

/** Terms under which even a busy machine repays within the term. */
export const recordTerms = { minCycleSeconds: 0, termSeconds: 60, graceSeconds: 86_400 }

export { recordFromChain }

// biome-ignore lint/suspicious/noExplicitAny: the record is read by tests, field by field
export type Served = { status: number; body: any; headers: Headers; tookMs: number }

export async function verify(stack: RunningStack, wallet: string, init?: RequestInit): Promise<Served> {
  const begun = performance.now()
  const answer = await fetch(`${stack.info.gateway}/verify/${wallet}`, {
    signal: AbortSignal.timeout(15_000),
    ...init,
  })
  const text = await answer.text()
  const tookMs = performance.now() - begun
  const body = text === '' ? undefined : JSON.parse(text)
  return { status: answer.status, body, headers: answer.headers, tookMs }
}

/** Returns the record according to the chain, without code of the reader. */
export const truthOf = async (stack: RunningStack, wallet: Address) => ({
  ...(await recordFromChain(placeOf(stack.info), wallet)).record,
  indexer: 'ok',
})

/** Waits until `/verify` equals the chain. */
export const servesTruth = (stack: RunningStack, wallet: Address, deadlineMs?: number) =>
  waitUntil(
    'the record matching the chain',
    async () => {
      const truth = await truthOf(stack, wallet)
      const { body } = await verify(stack, wallet)
      return Bun.deepEquals(body, truth) && truth
    },
    deadlineMs,
    150,
  )
