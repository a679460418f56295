import pMap from 'p-map'
import { createPublicClient, createWalletClient, type Hex, http, parseGwei } from 'viem'
import { nonceManager, privateKeyToAccount } from 'viem/accounts'
import { pause } from '#platform/deadline'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { chainOf } from '#shared/chain/client'
import type { SignedTransfer } from '#shared/chain/erc3009'

/** Yardstick of a relayer: it relays transfers with viem's `nonceManager`, and stores, checks and retries nothing. */
export type PlainTask = {
  readonly rpcUrl: string
  readonly chainId: number
  readonly ausd: Hex
  readonly laneKeys: readonly Hex[]
  readonly atOnce: number
  readonly transfers: readonly SignedTransfer[]
}

const everyMs = 100
/**
 * Fees that are fixed, because viem's tip would exceed its maximum fee once the base fee of an idle anvil has fallen.
 */
const fees = { maxFeePerGas: parseGwei('1000'), maxPriorityFeePerGas: parseGwei('2') }

async function relayAll({ rpcUrl, chainId, ausd, laneKeys, atOnce, transfers }: PlainTask) {
  const setup = { chain: chainOf(chainId), transport: http(rpcUrl), pollingInterval: everyMs }
  const reader = createPublicClient(setup)
  const lanes = laneKeys.map((key) =>
    createWalletClient({ ...setup, account: privateKeyToAccount(key, { nonceManager }) }),
  )
  let finalBlock = 0n
  const relay = async (one: SignedTransfer, index: number) => {
    const hash = await lanes[index % lanes.length]!.writeContract({
      address: ausd,
      abi: ausdAbi,
      functionName: 'transferWithAuthorization',
      ...fees,
      args: [
        one.from as Hex,
        one.to as Hex,
        BigInt(one.value),
        BigInt(one.validAfter),
        BigInt(one.validBefore),
        one.nonce as Hex,
        one.signature as Hex,
      ],
    })
    const { status, blockNumber } = await reader.waitForTransactionReceipt({ hash })
    if (status !== 'success') throw new Error('a transfer of the yardstick reverted')
    while (finalBlock < blockNumber) await pause(everyMs)
  }
  const stop = new AbortController()
  const watching = watch()
  async function watch() {
    while (!stop.signal.aborted) {
      finalBlock = (await reader.getBlock({ blockTag: 'finalized' })).number
      await pause(everyMs, stop.signal)
    }
  }
  const startedAt = performance.now()
  await pMap(transfers, relay, { concurrency: atOnce })
  const tookMs = performance.now() - startedAt
  stop.abort()
  await watching
  return tookMs
}

const task = (await Bun.stdin.json()) as PlainTask
console.log(JSON.stringify({ tookMs: await relayAll(task) }))
process.exit()
