import {
  type Address,
  BaseError,
  type ContractFunctionArgs,
  type ContractFunctionName,
  createTestClient,
  decodeErrorResult,
  encodeFunctionData,
  type Hex,
  http,
  maxUint256,
  numberToHex,
  parseEventLogs,
  publicActions,
  type RpcTransactionReceipt,
  walletActions,
} from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { startAnvil } from '#infra/contracts/anvil-process'
import { type Deployment, type DeployTerms, deployContracts } from '#infra/contracts/deploy'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'

/** The dev accounts every anvil unlocks: public keys of no worth anywhere else. */
export const actorKeys = {
  admin: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  treasury: '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  relayer: '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
  verifier: '0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6',
  ana: '0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a',
  budi: '0x8b3a350cf5c34c9194ca85829a2df0ec3153be0318b5e2d3348e872092edffba',
  citra: '0x92db14e403b83dfe3df233f83dfa3a0d7096f21ca9b0d6d6b8d88b2b4ec1564e',
} as const satisfies Record<string, Hex>

/** Who acts on the stage; ana, budi and citra are users, citra never verified. */
export type Actor = keyof typeof actorKeys

/** Each actor's account, for signing. */
export const actors = Object.fromEntries(
  Object.entries(actorKeys).map(([name, key]) => [name, privateKeyToAccount(key)]),
) as Record<Actor, PrivateKeyAccount>

/** The terms of the tests: a minute's hold, cycles of 1 to 30 minutes, then 5 minutes of grace. */
export const stageTerms = {
  holdSeconds: 60,
  minCycleSeconds: 60,
  termSeconds: 1_800,
  graceSeconds: 300,
  treasuryFundsMicro: 1_000_000_000_000n,
  liquidityMicro: 100_000_000_000n,
} as const satisfies Partial<DeployTerms>

/** Both ABIs: the credit line lets the token's errors and events through. */
export const stageAbi = [...ausdAbi, ...creditLineAbi] as const
const abis = { ausd: ausdAbi, creditLine: creditLineAbi } as const
const callGas = 12_000_000n

type Abis = typeof abis
type Contract = keyof Abis
type Call<C extends Contract> = ContractFunctionName<Abis[C], 'nonpayable' | 'view'>
type Args<C extends Contract, N extends Call<C>> = ContractFunctionArgs<
  Abis[C],
  'nonpayable' | 'view',
  N
>

/** An anvil with both contracts deployed and short ways to act on them. */
export type Stage = Awaited<ReturnType<typeof openStage>>

/** Boots an anvil of its own; ana and budi are verified and hold 1000 AUSD each. */
export async function openStage(terms: Partial<DeployTerms> = {}) {
  const anvil = await startAnvil()
  const deployment = await deployContracts({
    ...stageTerms,
    ...terms,
    rpcUrl: anvil.rpcUrl,
    adminKey: actorKeys.admin,
    treasuryKey: actorKeys.treasury,
    relayers: [actors.relayer.address],
    verifiers: [actors.verifier.address],
  })
  const client = openClient(anvil.rpcUrl)
  const stage = { client, deployment, close: anvil.close, ...stageCalls(client, deployment) }
  await stage.send('admin', 'ausd', 'mint', [actors.admin.address, 1_000_000_000_000_000n])
  for (const user of ['ana', 'budi'] as const) {
    await stage.send('admin', 'ausd', 'mint', [actors[user].address, 1_000_000_000n])
    await stage.send('verifier', 'creditLine', 'setVerified', [actors[user].address, true])
  }
  for (const payer of ['admin', 'ana', 'budi'] as const) {
    await stage.send(payer, 'ausd', 'approve', [deployment.creditLine, maxUint256])
  }
  return stage
}

function openClient(rpcUrl: string) {
  const transport = http(rpcUrl, { retryCount: 0, timeout: 20_000 })
  return createTestClient({ mode: 'anvil', transport, cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions)
}

function stageCalls(client: ReturnType<typeof openClient>, deployment: Deployment) {
  const request = client.request as (ask: { method: string; params: unknown[] }) => Promise<unknown>

  /** Sends and mines; answers gas used and events, throws if it reverts. */
  async function send<C extends Contract, N extends Call<C>>(
    from: Actor,
    contract: C,
    functionName: N,
    args: Args<C, N>,
  ) {
    const data = encode(contract, functionName, args)
    const gas = numberToHex(callGas)
    const transaction = { from: actors[from].address, to: deployment[contract], data, gas }
    const receipt = (await request({
      method: 'eth_sendTransactionSync',
      params: [transaction],
    })) as RpcTransactionReceipt
    if (receipt.status !== '0x1') {
      throw new Error(
        `${functionName} by ${from}: ${await refusal(from, contract, functionName, args)}`,
      )
    }
    const events = parseEventLogs({ abi: stageAbi, logs: receipt.logs as never })
    return { gasUsed: BigInt(receipt.gasUsed), events }
  }

  /** The name of the error the call would revert with now, or `accepted`. */
  async function refusal<C extends Contract, N extends Call<C>>(
    from: Actor,
    contract: C,
    functionName: N,
    args: Args<C, N>,
  ): Promise<string> {
    const data = encode(contract, functionName, args)
    const call = { account: actors[from].address, to: deployment[contract], data, gas: callGas }
    try {
      await client.call(call)
      return 'accepted'
    } catch (error) {
      const walked =
        error instanceof BaseError ? error.walk((one) => 'data' in (one as object)) : null
      const revert = (walked as { data?: Hex } | null)?.data
      if (!revert?.startsWith('0x')) throw error
      return decodeErrorResult({ abi: stageAbi, data: revert }).errorName
    }
  }

  const accountOf = (actor: Actor) =>
    client.readContract({
      abi: creditLineAbi,
      address: deployment.creditLine,
      functionName: 'accountOf',
      args: [actors[actor].address],
    })

  const balanceOf = (address: Address) =>
    client.readContract({
      abi: ausdAbi,
      address: deployment.ausd,
      functionName: 'balanceOf',
      args: [address],
    })

  /** Lets `seconds` of chain time pass. */
  async function warp(seconds: number) {
    await client.increaseTime({ seconds })
    await client.mine({ blocks: 1 })
  }

  let snapshot: Hex | undefined
  /** Remembers this state of the chain, for `rewind`. */
  async function checkpoint() {
    snapshot = await client.snapshot()
  }
  /** Goes back to the state of the last `checkpoint`. */
  async function rewind() {
    if (snapshot) await client.revert({ id: snapshot })
  }

  return { send, refusal, accountOf, balanceOf, warp, checkpoint, rewind }
}

function encode(contract: Contract, functionName: string, args: unknown): Hex {
  return encodeFunctionData({ abi: abis[contract], functionName, args } as never)
}

/** A distinct reference for each number. */
export const refOf = (number: number): Hex => numberToHex(number, { size: 32 })
