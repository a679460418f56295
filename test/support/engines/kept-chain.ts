import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestClient, createWalletClient, type Hex, http, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { chainAnswers, keptChainDir, localChainId, planKeptChain } from '#infra/local/chain'
import { type Child, startChild } from '#infra/local/child'
import { freePort } from '#infra/local/ports'
import { chainOf } from '#shared/chain/client'
import { childrenOf } from '../processes'
import { waitUntil } from '../wait'

export type KeptChain = Awaited<ReturnType<typeof openKeptChain>>

/** Starts the local chain of `start` and compose: anvil, and the process that keeps its blocks. */
export async function openKeptChain() {
  const dir = mkdtempSync(join(tmpdir(), 'kept-chain-'))
  mkdirSync(join(dir, 'logs'))
  const port = await freePort()
  const rpcUrl = `http://127.0.0.1:${port}`
  const plan = planKeptChain({ dir, port })
  let keeper: Child
  const untilOpen = async () => {
    const ended = keeper.exited.then((how) => Promise.reject(new Error(`the keeper ended (${how})`)))
    await Promise.race([ended, waitUntil('the chain being open', () => chainAnswers(rpcUrl))])
  }
  const start = () => {
    keeper = startChild(plan)
    return keeper
  }
  start()
  await untilOpen()
  return {
    client: chainClient(rpcUrl),
    rpcUrl,
    /** Folder of the snapshot and the journal. */
    dir: keptChainDir(dir),
    log: () => readFileSync(plan.logFile, 'utf8'),
    /** Starts the keeper, and does not wait for it. */
    start,
    stop: (signal: NodeJS.Signals = 'SIGTERM') => keeper.end(signal),
    untilOpen,
    /** Kills by SIGKILL, and waits until the chain is open again. */
    kill: async (which: 'anvil' | 'keeper' | 'both') => {
      const [before] = childrenOf(keeper.pid)
      if (which !== 'keeper') process.kill(before!, 'SIGKILL')
      if (which !== 'anvil') {
        await keeper.end('SIGKILL')
        start()
      }
      await waitUntil('another anvil', () => childrenOf(keeper.pid).some((pid) => pid !== before))
      await untilOpen()
    },
    [Symbol.asyncDispose]: async () => {
      await keeper.end()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

const chain = chainOf(localChainId)
const transport = (rpcUrl: string) => http(rpcUrl, { retryCount: 0 })

export const chainClient = (rpcUrl: string) =>
  createTestClient({ mode: 'anvil', chain, cacheTime: 0, transport: transport(rpcUrl) }).extend(publicActions)

/** anvil gives this account native coin. */
export const richAccount = privateKeyToAccount('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')

export const walletClient = (rpcUrl: string, account = richAccount) =>
  createWalletClient({ chain, account, transport: transport(rpcUrl) })

export const receiptOf = (client: ReturnType<typeof chainClient>, hash: Hex) =>
  waitUntil('a receipt', () => client.getTransactionReceipt({ hash }).catch(() => undefined))
