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
  walletActions,
} from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { type DeployedContracts, type DeployTerms, deployContracts } from '#infra/contracts/deploy'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { startAnvil } from './engines/anvil'

export {
  ownedWalletAbi,
  ownedWalletBytecode,
  trickWalletAbi,
  trickWalletBytecode,
} from '#infra/contracts/artifacts.gen'
export { deployContracts }

/** Published keys, which every anvil has unlocked. */
export const actorKeys = {
  admin: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  treasury: '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  relayer: '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
  verifier: '0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6',
  ana: '0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a',
  budi: '0x8b3a350cf5c34c9194ca85829a2df0ec3153be0318b5e2d3348e872092edffba',
  citra: '0x92db14e403b83dfe3df233f83dfa3a0d7096f21ca9b0d6d6b8d88b2b4ec1564e',
} as const satisfies Record<string, Hex>

/** An actor, of whom citra is never verified. */
export type Actor = keyof typeof actorKeys

export const actors = Object.fromEntries(
  Object.entries(actorKeys).map(([name, key]) => [name, privateKeyToAccount(key)]),
) as Record<Actor, PrivateKeyAccount>

/** Terms with one-minute holds, cycles of 1 to 30 minutes, and then a day of grace. */
export const fixtureTerms = {
  holdSeconds: 60,
  minCycleSeconds: 60,
  termSeconds: 1_800,
  graceSeconds: 86_400,
  minDebtMicro: 1_000_000n,
  treasuryFundsMicro: 1_000_000_000_000n,
  liquidityMicro: 100_000_000_000n,
} as const satisfies Partial<DeployTerms>

export const contractsAbi = [...ausdAbi, ...creditLineAbi] as const
const abis = { ausd: ausdAbi, creditLine: creditLineAbi } as const
const callGas = 12_000_000n

type Abis = typeof abis
type Contract = keyof Abis
type Call<C extends Contract> = ContractFunctionName<Abis[C], 'nonpayable' | 'view'>
type Args<C extends Contract, N extends Call<C>> = ContractFunctionArgs<Abis[C], 'nonpayable' | 'view', N>

export type ContractsFixture = Awaited<ReturnType<typeof openContractsFixture>>

/** Opens a chain with the contracts, on which ana and budi are verified and hold 1000 AUSD each. */
export async function openContractsFixture(terms: Partial<DeployTerms> = {}, anvilArgs: readonly string[] = []) {
  // Anvil's automine sometimes loses a transaction after a rewind.
  const anvil = await startAnvil(['--no-mining', ...anvilArgs])
  const deployment = await deployContracts({
    ...fixtureTerms,
    ...terms,
    rpcUrl: anvil.rpcUrl,
    adminKey: actorKeys.admin,
    treasuryKey: actorKeys.treasury,
    relayers: [actors.relayer.address],
    verifiers: [actors.verifier.address],
  }).catch(async (error) => {
    await anvil.close()
    throw error
  })
  const client = openClient(anvil.rpcUrl)
  const fixture = { client, deployment, close: anvil.close, ...fixtureCalls(client, deployment) }
  await fixture.send('admin', 'ausd', 'mint', [actors.admin.address, 1_000_000_000_000_000n])
  for (const user of ['ana', 'budi'] as const) {
    await fixture.send('admin', 'ausd', 'mint', [actors[user].address, 1_000_000_000n])
    await fixture.send('verifier', 'creditLine', 'setVerified', [actors[user].address, true])
  }
  for (const payer of ['admin', 'ana', 'budi'] as const) {
    await fixture.send(payer, 'ausd', 'approve', [deployment.creditLine, maxUint256])
  }
  return fixture
}

function openClient(rpcUrl: string) {
  const transport = http(rpcUrl, { retryCount: 0, timeout: 20_000 })
  return createTestClient({ mode: 'anvil', transport, cacheTime: 0 }).extend(publicActions).extend(walletActions)
}

type Client = ReturnType<typeof openClient>

function fixtureCalls(client: Client, deployment: DeployedContracts) {
  const request = client.request as (ask: RpcAsk) => Promise<unknown>
  const refusal = refusalOf(client, deployment)
  const sendRaw = (transaction: RawTransaction) => sendUnlocked(client, request, transaction)

  /** Sends a call. Throws if it reverts. */
  async function send<C extends Contract, N extends Call<C>>(
    from: Actor,
    contract: C,
    functionName: N,
    args: Args<C, N>,
  ) {
    const data = encode(contract, functionName, args)
    const gas = numberToHex(callGas)
    const to = deployment[contract]
    const receipt = await sendRaw({ from: actors[from].address, to, data, gas })
    if (receipt.status !== 'success') {
      const reason = await refusal(from, contract, functionName, args)
      throw new Error(`${functionName} by ${from}: ${reason}`)
    }
    return {
      gasUsed: receipt.gasUsed,
      /** Events, which are parsed on demand because viem hashes every event of the ABIs each time. */
      get events() {
        return parseEventLogs({ abi: contractsAbi, logs: receipt.logs })
      },
    }
  }

  return { send, sendRaw, request, refusal, ...views(client, deployment), ...timeTravel(client) }
}

type RpcAsk = { method: string; params: unknown[] }
type RawTransaction = { from: Address; to?: Address; data: Hex; gas: Hex }

/** Sends a transaction and returns its receipt, even if it reverted. */
async function sendUnlocked(client: Client, request: (ask: RpcAsk) => Promise<unknown>, transaction: RawTransaction) {
  const hash = (await request({ method: 'eth_sendTransaction', params: [transaction] })) as Hex
  await client.mine({ blocks: 1 })
  return await client.getTransactionReceipt({ hash })
}

function refusalOf(client: Client, deployment: DeployedContracts) {
  /** Returns the error if the call reverted now, or `accepted`. */
  return async <C extends Contract, N extends Call<C>>(
    from: Actor,
    contract: C,
    functionName: N,
    args: Args<C, N>,
  ): Promise<string> => {
    const data = encode(contract, functionName, args)
    const to = deployment[contract]
    try {
      await client.call({ account: actors[from].address, to, data, gas: callGas })
      return 'accepted'
    } catch (error) {
      const revert = revertData(error)
      if (revert === undefined) throw error
      return decodeErrorResult({ abi: contractsAbi, data: revert }).errorName
    }
  }
}

function revertData(error: unknown): Hex | undefined {
  if (!(error instanceof BaseError)) return undefined
  const carrier = error.walk((one) => typeof (one as { data?: unknown }).data === 'string')
  return (carrier as { data?: Hex } | null)?.data
}

function views(client: Client, { ausd, creditLine }: DeployedContracts) {
  const accountOf = (actor: Actor) =>
    client.readContract({
      abi: creditLineAbi,
      address: creditLine,
      functionName: 'accountOf',
      args: [actors[actor].address],
    })
  const balanceOf = (address: Address) =>
    client.readContract({
      abi: ausdAbi,
      address: ausd,
      functionName: 'balanceOf',
      args: [address],
    })
  return { accountOf, balanceOf }
}

function timeTravel(client: Client) {
  const snapshots: Hex[] = []
  async function warp(seconds: number) {
    await client.increaseTime({ seconds })
    await client.mine({ blocks: 1 })
  }
  async function checkpoint() {
    snapshots.push(await client.snapshot())
  }
  /** Rewinds to the last `checkpoint`, which can be used once. */
  async function rewind() {
    const id = snapshots.pop()
    if (!id) throw new Error('there is no checkpoint to rewind to')
    await client.revert({ id })
  }
  return { warp, checkpoint, rewind }
}

function encode(contract: Contract, functionName: string, args: unknown): Hex {
  return encodeFunctionData({ abi: abis[contract], functionName, args } as never)
}

export const refOf = (number: number): Hex => numberToHex(number, { size: 32 })
