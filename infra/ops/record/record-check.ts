import type { Address } from 'viem'
import { operatorPlace, type Place } from '#infra/ops/place'
import { type ChainRecord, recordFromChain } from '#infra/ops/record/chain-record'
import { differencesIn, lasting, type Repeats } from '#infra/ops/record/difference'
import { operatorSecrets } from '#infra/ops/stack'
import { runCommand } from '#shared/command'

const deadlineMs = 5_000

/**
 * Returns the lasting differences between the record from `/verify`, the one computed from the
 * chain, and `accountOf`.
 */
export const checkRecord = (place: Place, wallet: Address, repeats?: Repeats): Promise<string[]> =>
  lasting(async () => {
    const served = await servedRecord(place.gateway, wallet)
    const truth = await recordFromChain(place, wallet)
    return compareRecords(served, truth)
  }, repeats)

/** Compares the three records of a wallet. */
export function compareRecords(served: Record<string, unknown>, truth: ChainRecord): string[] {
  const { verified, score, cycles, defaulted } = truth.record
  const account = { verified, score, cycles, defaulted, drawn: truth.drawn }
  return [
    ...differencesIn({ ...truth.record, indexer: 'ok' }, served, 'the chain', '/verify'),
    ...differencesIn(account, truth.fromEvents, 'accountOf', 'the events'),
  ]
}

async function servedRecord(gateway: string, wallet: Address): Promise<Record<string, unknown>> {
  const answer = await fetch(`${gateway}/verify/${wallet}`, {
    signal: AbortSignal.timeout(deadlineMs),
  })
  if (!answer.ok) throw new Error(`/verify returned ${answer.status}`)
  return (await answer.json()) as Record<string, unknown>
}

if (import.meta.main) {
  const wallet = process.argv[2] ?? ''
  if (!/^0x[0-9a-fA-F]{40}$/.test(wallet)) {
    console.error('usage: bun infra/ops/record/record-check.ts <wallet>')
    process.exit(2)
  }
  await runCommand(operatorSecrets, async (say) => {
    const found = await checkRecord(operatorPlace(), wallet as Address)
    say(found.length === 0 ? 'the record matches the chain' : found.join('\n'))
    return found.length === 0 ? 0 : 1
  })
  process.exit()
}
