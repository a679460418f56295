import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestClient, http, parseEther, publicActions, walletActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { chainAnswers, layChain, localChainId, localTerms, planChain } from '#infra/local/chain'
import { type Child, startChild } from '#infra/local/child'
import { devKey, devWallets } from '#infra/local/keys'
import { freePort } from '#infra/local/ports'
import { waitUntil } from '#infra/local/wait'
import { chainOf } from '#shared/chain/client'

const dir = mkdtempSync(join(tmpdir(), 'chain-'))
let node: Child
let client: ReturnType<typeof openClient>

const openClient = (rpcUrl: string) =>
  createTestClient({
    mode: 'anvil',
    chain: chainOf(localChainId),
    cacheTime: 0,
    transport: http(rpcUrl, { timeout: 60_000 }),
  })
    .extend(publicActions)
    .extend(walletActions)

beforeAll(async () => {
  mkdirSync(join(dir, 'logs'))
  const port = await freePort()
  const rpcUrl = `http://127.0.0.1:${port}`
  node = startChild(planChain({ dir, port }))
  await waitUntil('the chain answering', () => chainAnswers(rpcUrl))
  client = openClient(rpcUrl)
  const laneKeys = [devKey('lane 0')]
  await layChain({ rpcUrl, laneKeys, wallets: devWallets(1), terms: localTerms })
})
afterAll(async () => {
  await node?.end()
  rmSync(dir, { recursive: true, force: true })
})

describe('the local chain', () => {
  test("the local chain accepts viem's default fees, also after the base fee has decayed", async () => {
    await client.mine({ blocks: 300 })
    expect((await client.getBlock()).baseFeePerGas).toBeLessThan(1_000n)
    const account = privateKeyToAccount(devWallets(1)[0]!.privateKey)
    await client.setBalance({ address: account.address, value: parseEther('1') })
    const hash = await client.sendTransaction({ account, to: account.address, value: 1n })
    const { status } = await client.waitForTransactionReceipt({ hash, pollingInterval: 50 })
    expect(status).toBe('success')
  })
})
