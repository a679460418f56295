import { beforeAll, test } from 'bun:test'
import { createWalletClient, type Hex, http, publicActions } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { laneKeys } from '#infra/local/environment'
import { feeBid } from '#infra/local/fee-bid'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { chainOf } from '#shared/chain/client'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { refOf } from '#shared/chain/ref'
import { groupStack } from '#test/runner/group'
import { operate } from '#test/support/stack'

let stack: Stack
beforeAll(() => {
  stack = groupStack()
})

const books = () => operate(stack, 'reconcile')

test('the check finds a credit that a relayer key sent outside the service', async () => {
  const { rpcUrl, chainId, creditLine } = stack.info.chain
  const client = createWalletClient({
    account: privateKeyToAccount(laneKeys[1]!),
    chain: chainOf(chainId),
    transport: http(rpcUrl),
  }).extend(publicActions)
  const wallet = privateKeyToAddress(generatePrivateKey())
  const ref = refOf('ordered by no service')
  const { address } = client.account
  const send = async (nonce: number) => ({
    nonce,
    hash: await client.writeContract({
      address: creditLine as Hex,
      abi: creditLineAbi,
      functionName: 'topUp',
      args: [ref, wallet, 7_000_000n, false],
      gas: 400_000n,
      nonce,
      ...(await feeBid(client)),
    }),
  })
  let sent: Awaited<ReturnType<typeof send>> | undefined
  const { hash } = await waitUntil('its finality', async () => {
    // The relayer may use the nonce of its lane at the same moment. Then the node refuses this one, or never mines it.
    sent ??= await send(await client.getTransactionCount({ address }))
    const receipt = await client.getTransactionReceipt({ hash: sent.hash }).catch(() => undefined)
    const head = await client.getBlock({ blockTag: 'finalized' })
    if (receipt) return head.number! >= receipt.blockNumber && sent
    const next = await client.getTransactionCount({ address, blockNumber: head.number! })
    if (next > sent.nonce) sent = undefined
    return false
  })
  const words = `a credit of 7000000 for ${wallet.toLowerCase()} in ${hash} under ref ${ref} belongs to no payment`
  await waitUntil('it being found', async () => (await books()).said.includes(words))
  // The first run may precede the reading of the item's name, so the break counts only when it is found again.
  await waitUntil('an exit code of 1', async () => (await books()).code === 1)
})
