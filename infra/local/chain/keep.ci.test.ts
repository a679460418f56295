import { expect, test } from 'bun:test'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { layChain, localTerms } from '#infra/local/chain'
import { devKey, devWallets } from '#infra/local/keys'
import { pause } from '#platform/deadline'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { openKeptChain, receiptOf, walletClient } from '#test/support/engines/kept-chain'
import { waitUntil } from '#test/support/wait'

test('a block that a reader has seen stays, whichever process of the chain is killed at any moment', async () => {
  await using kept = await openKeptChain()
  const { client, rpcUrl } = kept
  const [wallet] = devWallets(1)
  const { ausd } = await layChain({ rpcUrl, laneKeys: [devKey('lane 0')], wallets: [wallet!], terms: localTerms })
  const stop = new AbortController()
  const seen = new Map<bigint, Hex>()
  const changed: bigint[] = []
  const read = async () => {
    while (!stop.signal.aborted) {
      const block = await client.getBlock().catch(() => undefined)
      if (!block) continue
      if ((seen.get(block.number) ?? block.hash) !== block.hash) changed.push(block.number)
      seen.set(block.number, block.hash)
    }
  }
  const write = async () => {
    const sender = walletClient(rpcUrl, privateKeyToAccount(devKey('admin')))
    const mint = { address: ausd, abi: ausdAbi, functionName: 'mint', args: [wallet!.address, 1n] } as const
    while (!stop.signal.aborted) await sender.writeContract(mint).catch(() => pause(20))
  }
  const working = Promise.all([read(), write()])
  for (const which of ['anvil', 'keeper', 'both', 'anvil', 'keeper', 'both', 'anvil', 'anvil'] as const) {
    const before = seen.size
    await waitUntil('blocks', () => seen.size > before + 2)
    await pause(Math.random() * 300)
    await kept.kill(which)
  }
  stop.abort()
  await working
  expect(changed).toEqual([])
  const gone: bigint[] = []
  for (const [number, hash] of seen) {
    const block = await client.getBlock({ blockNumber: number }).catch(() => undefined)
    if (block?.hash !== hash) gone.push(number)
  }
  expect(gone).toEqual([])
  const minted = await client.getLogs({ address: ausd, fromBlock: 0n })
  expect(minted.length).toBeGreaterThan(20)
})

test('an unused chain mines at the idle interval, and a transaction is mined and final at once', async () => {
  await using kept = await openKeptChain()
  const { client, rpcUrl } = kept
  const rests = () =>
    waitUntil('the chain to rest', async () => {
      const before = await client.getBlockNumber()
      await pause(2_000)
      return (await client.getBlockNumber()) - before <= 1n
    })
  await rests()
  const before = await client.getBlockNumber()
  const sentAt = Date.now()
  const hash = await walletClient(rpcUrl).sendTransaction({ data: '0x5f5fa05f5ff3' })
  const { blockNumber } = await receiptOf(client, hash)
  expect(blockNumber - before).toBeLessThanOrEqual(2n)
  await waitUntil('it to be final', async () => {
    const { number } = await client.getBlock({ blockTag: 'finalized' })
    return number !== null && number >= blockNumber
  })
  expect(Date.now() - sentAt).toBeLessThan(2_500)
  await rests()
})
