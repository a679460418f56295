import {
  createWalletClient,
  encodeFunctionData,
  HttpRequestError,
  http,
  keccak256,
  type PrivateKeyAccount,
  publicActions,
  TimeoutError,
  TransactionReceiptNotFoundError,
} from 'viem'
import { pause } from '#platform/deadline'
import type { GetConfig } from '#shared/api/config'
import type { AnswerOf } from '#shared/api/route'
import { creditLineAbi, Unanswered } from '#shared/client/client'
import type { ChainOrder, OpenOrders } from './orders'

export type ClientConfig = AnswerOf<typeof GetConfig>

/** Transactions the wallet sends to the credit line; see "Draw and repay" in the guide. */
export type WalletChain = ReturnType<typeof openChain>

export class NoGas extends Error {
  override name = 'NoGas'
}

/** The contract refused, or another transaction took the nonce; nothing was done. */
export class NotDone extends Error {
  override name = 'NotDone'
}

const pollMs = 500
const patienceMs = 30_000

export function openChain({
  account,
  config,
  rpcUrl,
  ask,
  orders,
}: {
  account: PrivateKeyAccount
  config: ClientConfig
  rpcUrl: string
  ask: (url: string, init: RequestInit) => Promise<Response>
  orders: OpenOrders
}) {
  const fetchFn = (url: string | URL | Request, init: RequestInit = {}) => ask(String(url), init)
  const transport = http(rpcUrl, { fetchFn: fetchFn as typeof fetch, retryCount: 0 })
  const node = createWalletClient({ account, transport }).extend(publicActions)
  const { creditLine, chainId, gasLimits } = config.chain
  const address = account.address

  /** Simulates the call, which gives the contract's reason, and signs it without sending it. */
  async function sign(kind: ChainOrder['kind'], micro: bigint): Promise<ChainOrder> {
    const line = { account, address: creditLine, abi: creditLineAbi }
    const call = { draw: [micro, address], repayFromCollateral: [micro] } as const
    if (kind === 'draw')
      await node.simulateContract({ ...line, functionName: kind, args: call[kind] })
    else await node.simulateContract({ ...line, functionName: kind, args: call[kind] })
    const [{ baseFeePerGas }, nonce, balance] = await Promise.all([
      node.getBlock(),
      node.getTransactionCount({ address, blockTag: 'pending' }),
      node.getBalance({ address }),
    ])
    const gas = BigInt(gasLimits[kind]) // Charged in full.
    const maxPriorityFeePerGas = 1_000_000_000n
    const maxFeePerGas = 2n * (baseFeePerGas ?? 0n) + maxPriorityFeePerGas
    if (balance < gas * maxFeePerGas) throw new NoGas()
    const raw = await account.signTransaction({
      ...{ chainId, type: 'eip1559', to: creditLine, nonce, gas },
      ...{ maxFeePerGas, maxPriorityFeePerGas },
      data: encodeFunctionData({ abi: creditLineAbi, functionName: kind, args: call[kind] }),
    })
    return { kind, raw, hash: keccak256(raw), nonce }
  }

  /**
   * Sends a stored transaction and waits for its block. Resending is safe: its nonce is used once.
   */
  async function finish(order: ChainOrder): Promise<void> {
    const { raw, hash, nonce } = order
    const isUnclear = orders.get(order.kind) !== undefined
    orders.put(order)
    try {
      await node.sendRawTransaction({ serializedTransaction: raw })
    } catch (error) {
      const isRefused = !(error instanceof HttpRequestError || error instanceof TimeoutError)
      // A node also refuses a transaction that it already has.
      if (isRefused && !isUnclear) {
        orders.remove(order)
        throw error
      }
    }
    const givesUpAt = Date.now() + patienceMs
    for (;;) {
      const mined = await node.getTransactionCount({ address })
      const receipt = await node.getTransactionReceipt({ hash }).catch((error) => {
        if (error instanceof TransactionReceiptNotFoundError) return undefined
        throw error
      })
      // Another transaction used the nonce, or this node lags behind; only time shows which.
      const isLost = mined > nonce && Date.now() > givesUpAt
      if (receipt || isLost) orders.remove(order)
      if (receipt?.status === 'success') return
      if (receipt || isLost) throw new NotDone()
      if (Date.now() > givesUpAt) throw new Unanswered(order.kind, 1, undefined)
      await pause(pollMs)
    }
  }

  return {
    sign,
    finish,
    /** Chain time in unix seconds, at least the browser's; a sandbox can move the chain ahead. */
    async nowSeconds(): Promise<bigint> {
      const { timestamp } = await node.getBlock()
      const here = BigInt(Math.floor(Date.now() / 1_000))
      return timestamp > here ? timestamp : here
    },
  }
}
