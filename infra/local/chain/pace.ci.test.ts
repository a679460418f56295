import { expect, test } from 'bun:test'
import { createPublicClient, createWalletClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { localChainId } from '#infra/local/chain'
import { startPacing } from '#infra/local/chain/pace'
import { waitUntil } from '#infra/local/wait'
import { pause } from '#platform/deadline'
import { chainOf } from '#shared/chain/client'
import { startAnvil } from '#test/support/engines/anvil'

// anvil's first public test account.
const account = privateKeyToAccount('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')

test('an unused chain mines at the idle interval, and a transaction is mined and final at once', async () => {
  await using node = await startAnvil(['--block-time', '0.3', '--slots-in-an-epoch', '1'])
  const chain = { ...chainOf(localChainId) }
  const reader = createPublicClient({ chain, transport: http(node.rpcUrl), cacheTime: 0 })
  await using _pacing = await startPacing(node.rpcUrl, { quietAfterMs: 2_000 })
  const pass = async () => {
    const before = await reader.getBlockNumber()
    await pause(2_000)
    return Number((await reader.getBlockNumber()) - before)
  }
  const rests = () => waitUntil('the chain to rest', async () => (await pass()) <= 1)
  await rests()

  const wallet = createWalletClient({ account, chain, transport: http(node.rpcUrl) })
  const before = await reader.getBlockNumber()
  const hash = await wallet.sendTransaction({ to: account.address, value: 1n })
  const { blockNumber } = await waitUntil('its receipt', () =>
    reader.getTransactionReceipt({ hash }).catch(() => undefined),
  )
  expect(blockNumber - before).toBeLessThanOrEqual(2n)
  await waitUntil('it to be final', async () => {
    const { number } = await reader.getBlock({ blockTag: 'finalized' })
    return number !== null && number >= blockNumber
  })
  await rests()
})
