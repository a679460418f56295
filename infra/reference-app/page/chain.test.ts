import { afterAll, expect, test } from 'bun:test'
import { createTestClient, http, keccak256, publicActions, walletActions } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { Unanswered } from '#shared/client/client'
import { startAnvil } from '#test/support/engines/anvil'
import { type ClientConfig, openChain } from './chain'
import { type ChainOrder, openOrders } from './orders'

const anvil = await startAnvil(['--block-time', '0.1'])
afterAll(anvil.close)
const { rpcUrl } = anvil
const chain = createTestClient({ mode: 'anvil', transport: http(rpcUrl), cacheTime: 0 })
  .extend(publicActions)
  .extend(walletActions)
const gwei = 1_000_000_000n

/** Opens a funded wallet. Tests have less patience only where the chain never responds. */
async function newWallet({ patienceMs = 30_000 } = {}) {
  const account = privateKeyToAccount(generatePrivateKey())
  await chain.setBalance({ address: account.address, value: 10n ** 18n })
  const kept = new Map<string, string>()
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  }
  const orders = openOrders(storage, account.address)
  const chainId = await chain.getChainId()
  const config = { chain: { chainId, creditLine: account.address } } as ClientConfig
  const wallet = openChain({ account, config, rpcUrl, ask: fetch, orders, patienceMs })
  const orderAt = async (maxFeePerGas: bigint): Promise<ChainOrder> => {
    const call = { chainId, type: 'eip1559', nonce: 0, to: account.address, gas: 21_000n } as const
    const fees = { maxFeePerGas, maxPriorityFeePerGas: 1n }
    const raw = await account.signTransaction({ ...call, ...fees })
    return { kind: 'draw', raw, hashes: [keccak256(raw)], nonce: 0 }
  }
  return { ...wallet, address: account.address, orders, orderAt }
}

test('a stored transaction below the base fee is replaced at its nonce and ends', async () => {
  const { finish, orders, orderAt, address } = await newWallet()
  const order = await orderAt(1n)
  orders.put(order)
  await finish(order)
  expect(orders.get('draw')).toBeUndefined()
  expect(await chain.getTransactionCount({ address })).toBe(1)
})

test('a stored transaction below the base fee stays as it is while its wallet cannot pay more', async () => {
  const { finish, orders, orderAt, address } = await newWallet({ patienceMs: 2_000 })
  await chain.setBalance({ address, value: 21_000n })
  const order = await orderAt(1n)
  orders.put(order)
  await expect(finish(order)).rejects.toBeInstanceOf(Unanswered)
  expect<unknown>(orders.get('draw')).toEqual(order)
})

test('a replaced transaction that is mined after all ends its order', async () => {
  const { finish, orders, orderAt } = await newWallet()
  const [first, second] = [await orderAt(50n * gwei), await orderAt(100n * gwei)]
  await chain.sendRawTransaction({ serializedTransaction: first.raw })
  await chain.waitForTransactionReceipt({ hash: first.hashes[0], pollingInterval: 50 })
  const order: ChainOrder = { ...second, hashes: [...second.hashes, ...first.hashes] }
  orders.put(order)
  await finish(order)
  expect(orders.get('draw')).toBeUndefined()
})

test('a transaction that another tab has concluded is not reported as not done', async () => {
  const { finish, orders, orderAt } = await newWallet({ patienceMs: 2_000 })
  const [mine, theirs] = [await orderAt(50n * gwei), await orderAt(100n * gwei)]
  orders.put(mine)
  await chain.sendRawTransaction({ serializedTransaction: theirs.raw })
  await chain.waitForTransactionReceipt({ hash: theirs.hashes[0], pollingInterval: 50 })
  const ending = finish(mine).catch((error) => error)
  orders.remove(mine)
  expect(await ending).toBeInstanceOf(Unanswered)
})
