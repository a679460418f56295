import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPublicClient, createWalletClient, type Hex, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { anvil } from 'viem/chains'
import { dumpState, keepState, withoutEmptyBlocks } from '#infra/local/chain/keep'
import { repositoryDir } from '#infra/local/folders'
import { waitUntil } from '#infra/local/wait'
import { type AnvilProcess, startAnvil } from '#test/support/engines/anvil'

const chain = { ...anvil, id: 10_143 }
/** Writes one log. */
const speak: Hex = '0x5f5fa05f5ff3'
// anvil's first public test account.
const account = privateKeyToAccount('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')

let dir: string
let file: string
let running: AnvilProcess
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'keep-chain-'))
  file = join(dir, 'state.json')
  running = await start()
})
afterAll(async () => {
  await running.close()
  rmSync(dir, { recursive: true, force: true })
})

const start = () => startAnvil(['--block-time', '0.1', ...(existsSync(file) ? ['--load-state', file] : [])])
const reader = () => createPublicClient({ chain, transport: http(running.rpcUrl) })
const logs = () => reader().getLogs({ fromBlock: 0n, toBlock: 'latest' })
async function speakOnce(): Promise<void> {
  const wallet = createWalletClient({ chain, account, transport: http(running.rpcUrl) })
  const hash = await wallet.sendTransaction({ data: speak })
  await waitUntil('a receipt', () =>
    reader()
      .getTransactionReceipt({ hash })
      .catch(() => undefined),
  )
}
const kill = async () => {
  await running[Symbol.asyncDispose]()
  running = await start()
}

test('a chain that is killed three times in a row restores its last snapshot each time', async () => {
  for (const count of [1, 2, 3]) {
    await speakOnce()
    await keepState(running.rpcUrl, file)
    const height = await reader().getBlockNumber()
    await kill()
    expect(await logs()).toHaveLength(count)
    await waitUntil('new blocks', async () => (await reader().getBlockNumber()) > height)
  }
})

test('a process that is killed while it writes leaves the snapshot file unchanged', async () => {
  await keepState(running.rpcUrl, file)
  const kept = readFileSync(file, 'utf8')
  writeFileSync(`${file}.new`, kept.slice(0, kept.length / 2))
  await kill()
  expect(await logs()).toHaveLength(3)
})

test('only old empty blocks are left out of a snapshot', async () => {
  await waitUntil('blocks', async () => (await reader().getBlockNumber()) > 40n)
  const state = await dumpState(running.rpcUrl)
  const less = withoutEmptyBlocks(state, 5)
  expect(less.blocks.length).toBeLessThanOrEqual(1 + 3 + 5)
  expect(less.blocks.filter(({ transactions }) => transactions.length > 0)).toHaveLength(3)
  writeFileSync(file, JSON.stringify(less))
  const before = { logs: await logs(), genesis: await reader().getBlock({ blockNumber: 0n }) }
  await kill()
  expect({ logs: await logs(), genesis: await reader().getBlock({ blockNumber: 0n }) }).toEqual(before)
})

test('the chain is saved periodically, and once more at the end', async () => {
  rmSync(file)
  const keeper = Bun.spawn([process.execPath, 'infra/local/chain/keep.ts'], {
    cwd: repositoryDir,
    env: { ...process.env, RPC_URLS: running.rpcUrl, CHAIN_STATE_FILE: file },
  })
  await waitUntil('the first state', () => existsSync(file))
  await speakOnce()
  keeper.kill('SIGTERM')
  expect(await keeper.exited).toBe(0)
  await kill()
  expect(await logs()).toHaveLength(4)
})
