import {
  createWalletClient,
  type EncodeFunctionDataParameters,
  encodeFunctionData,
  HttpRequestError,
  http,
  keccak256,
  maxUint256,
  type PrivateKeyAccount,
  parseTransaction,
  publicActions,
  TimeoutError,
  TransactionReceiptNotFoundError,
  type TransactionSerializedEIP1559,
} from 'viem'
import { pause } from '#platform/deadline'
import type { GetConfig } from '#shared/api/config'
import type { RouteAnswer } from '#shared/api/route'
import { tipWei } from '#shared/chain/gas'
import { ausdAbi, creditLineAbi, type Me, serviceMs, Unanswered } from '#shared/client/client'
import type { ChainOrder, OpenOrders } from './orders'

export type ClientConfig = RouteAnswer<typeof GetConfig>

type Source = NonNullable<Me['autoRepay']>['source']

/** Call that the wallet sends itself. Amounts are in 10⁻⁶ AUSD. */
export type ChainCall =
  | { readonly kind: 'draw' | 'repayFromCollateral'; readonly micro: bigint }
  /** Lets the credit line take AUSD of the wallet, without end, when the user has allowed a repayment. */
  | { readonly kind: 'approve' }
  /** Allows automatic repayments of up to `mostMicro` in each cycle; 0 ends them. */
  | { readonly kind: 'setAutoRepay'; readonly mostMicro: bigint; readonly source: Source }

/** User's own access to the chain. See "Draw and repay" in the guide. */
export type WalletChain = ReturnType<typeof openChain>

export class NoGas extends Error {
  override name = 'NoGas'
}

/** Thrown if nothing was done: the contract refused, or another transaction took the nonce. */
export class NotDone extends Error {
  override name = 'NotDone'
}

/**
 * Returns fees with room for the base fee to double, as far as the balance goes: the chain charges base fee and tip, and
 * some nodes require the maximum fee to be there. Returns undefined if the balance does not pay today's fee.
 */
export function feesWithin(options: { baseFeeWei: bigint; tipWei?: bigint; gas: bigint; balanceWei: bigint }) {
  const { baseFeeWei, tipWei: maxPriorityFeePerGas = tipWei, gas, balanceWei } = options
  const wanted = 2n * baseFeeWei + maxPriorityFeePerGas
  const affordable = balanceWei / gas
  const maxFeePerGas = affordable < wanted ? affordable : wanted
  return maxFeePerGas < baseFeeWei + maxPriorityFeePerGas ? undefined : { maxPriorityFeePerGas, maxFeePerGas }
}

const pollMs = 500

export function openChain({
  account,
  config,
  rpcUrl,
  ask,
  orders,
  patienceMs = 30_000,
}: {
  account: PrivateKeyAccount
  config: ClientConfig
  rpcUrl: string
  ask: (url: string, init: RequestInit) => Promise<Response>
  orders: OpenOrders
  patienceMs?: number
}) {
  const fetchFn = (url: string | URL | Request, init: RequestInit = {}) => ask(String(url), init)
  const transport = http(rpcUrl, { fetchFn: fetchFn as typeof fetch, retryCount: 0 })
  const node = createWalletClient({ account, transport }).extend(publicActions)
  const { creditLine, ausd, chainId, gasLimits } = config.chain
  const address = account.address

  function contractCallOf(call: ChainCall) {
    const line = { address: creditLine, abi: creditLineAbi }
    switch (call.kind) {
      case 'draw':
        return { ...line, functionName: call.kind, args: [call.micro, address] }
      case 'repayFromCollateral':
        return { ...line, functionName: call.kind, args: [call.micro] }
      case 'setAutoRepay':
        return { ...line, functionName: call.kind, args: [call.mostMicro, call.source === 'collateral'] }
      case 'approve':
        return { address: ausd.address, abi: ausdAbi, functionName: call.kind, args: [creditLine, maxUint256] }
    }
  }

  /** Simulates the call, which gives the contract's reason, and signs it. */
  async function sign(call: ChainCall): Promise<ChainOrder> {
    const { kind } = call
    const limit = gasLimits[kind]
    if (limit === undefined) throw new Error(`the credit line has no ${kind}`)
    const contractCall = contractCallOf(call)
    await node.simulateContract({ account, ...contractCall } as never)
    const [{ baseFeePerGas }, nonce, balance] = await Promise.all([
      node.getBlock(),
      node.getTransactionCount({ address, blockTag: 'pending' }),
      node.getBalance({ address }),
    ])
    const gas = BigInt(limit) // The chain charges the whole gas limit.
    const fees = feesWithin({ baseFeeWei: baseFeePerGas ?? 0n, gas, balanceWei: balance })
    if (!fees) throw new NoGas()
    const raw = await account.signTransaction({
      chainId,
      type: 'eip1559',
      to: contractCall.address,
      nonce,
      gas,
      ...fees,
      data: encodeFunctionData(contractCall as EncodeFunctionDataParameters),
    })
    return { kind, raw, hashes: [keccak256(raw)], nonce }
  }

  /** Raises the fee of a transaction if the base fee rose above it and the wallet can pay more. */
  async function raised(order: ChainOrder): Promise<ChainOrder> {
    const [{ baseFeePerGas }, balance] = await Promise.all([node.getBlock(), node.getBalance({ address })])
    const { to, data, gas, ...was } = parseTransaction(order.raw as TransactionSerializedEIP1559)
    if ((was.maxFeePerGas ?? 0n) >= (baseFeePerGas ?? 0n)) return order
    // A node requires at least 10 % more of both fees for a replacement.
    const raisedTipWei = 2n * (was.maxPriorityFeePerGas ?? tipWei)
    const baseFeeWei = baseFeePerGas ?? 0n
    const fees = feesWithin({ baseFeeWei, tipWei: raisedTipWei, gas: gas ?? 1n, balanceWei: balance })
    if (!fees || fees.maxFeePerGas * 10n < (was.maxFeePerGas ?? 0n) * 11n) return order
    const call = { chainId, type: 'eip1559', nonce: order.nonce, to, data, gas } as const
    const raw = await account.signTransaction({ ...call, ...fees })
    const next: ChainOrder = { ...order, raw, hashes: [keccak256(raw), ...order.hashes] }
    orders.replace(order, next)
    return next
  }

  const receiptOf = (hash: `0x${string}`) =>
    node.getTransactionReceipt({ hash }).catch((error) => {
      if (error instanceof TransactionReceiptNotFoundError) return undefined
      throw error
    })

  /** Sends until the transaction is in a block. Resending is safe, because a nonce is used once. */
  async function finish(given: ChainOrder): Promise<void> {
    const isUnclear = orders.get(given.kind) !== undefined
    orders.put(given)
    let order = isUnclear ? await raised(given) : given
    const { kind, nonce } = order
    try {
      await node.sendRawTransaction({ serializedTransaction: order.raw })
    } catch (error) {
      const isRefused = !(error instanceof HttpRequestError || error instanceof TimeoutError)
      // A node also refuses a transaction that it already has.
      if (isRefused && !isUnclear) {
        orders.remove(order)
        throw error
      }
    }
    const givesUpAt = performance.now() + patienceMs
    for (;;) {
      const stored = orders.get(kind)
      const isStored = stored?.nonce === nonce
      if (isStored) order = stored // Another tab may have raised its fee.
      const mined = await node.getTransactionCount({ address })
      const receipt = (await Promise.all(order.hashes.map(receiptOf))).find((one) => one)
      // Another transaction used the nonce, or this node lags behind. Only time shows which.
      const isLost = isStored && mined > nonce && performance.now() > givesUpAt
      if (receipt || isLost) orders.remove(order)
      if (receipt?.status === 'success') return
      if (receipt || isLost) throw new NotDone()
      if (performance.now() > givesUpAt) throw new Unanswered(kind, 1, undefined)
      await pause(pollMs)
    }
  }

  return {
    sign,
    finish,
    /** Returns the AUSD (10⁻⁶) of the wallet that the credit line may take. */
    allowanceMicro: () =>
      node.readContract({
        address: ausd.address,
        abi: ausdAbi,
        functionName: 'allowance',
        args: [address, creditLine],
      }),
    /**
     * Returns the chain's time in Unix seconds, or the service's if that is later. A sandbox can move the chain ahead.
     */
    async nowSeconds(): Promise<bigint> {
      const { timestamp } = await node.getBlock()
      const here = BigInt(Math.floor(serviceMs() / 1_000))
      return timestamp > here ? timestamp : here
    },
  }
}
