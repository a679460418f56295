import {
  type Address,
  createTestClient,
  encodeFunctionData,
  type Hex,
  http,
  maxUint256,
  numberToHex,
  publicActions,
} from 'viem'
import { startAnvil } from '#infra/contracts/anvil-process'
import { deployContracts } from '#infra/contracts/deploy'
import { actorKeys, actors } from '#infra/contracts/stage'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import type { ChainEvent } from '../event.ts'
import { fold } from '../projection.ts'

/** A hold of a minute, cycles of 1 to 30 minutes, then a day of grace. */
export const rigTerms = {
  holdSeconds: 60,
  minCycleSeconds: 60,
  minDebtMicro: 1_000_000n,
  termSeconds: 1_800,
  graceSeconds: 86_400,
} as const

export type RigChain = Awaited<ReturnType<typeof openRigChain>>

/** An anvil with the contracts; each call is a block of its own. Final two blocks behind. */
export async function openRigChain(terms: { holdSeconds?: number } = {}) {
  const anvil = await startAnvil(['--slots-in-an-epoch', '1', '--order', 'fifo'])
  const deployment = await deployContracts({
    ...rigTerms,
    ...terms,
    treasuryFundsMicro: 10n ** 15n,
    liquidityMicro: 10n ** 15n,
    rpcUrl: anvil.rpcUrl,
    adminKey: actorKeys.admin,
    treasuryKey: actorKeys.treasury,
    relayers: [actors.relayer.address],
    verifiers: [actors.verifier.address],
  })
  const client = createTestClient({ mode: 'anvil', transport: http(anvil.rpcUrl), cacheTime: 0 })
  const reader = client.extend(publicActions)
  const request = client.request as (ask: { method: string; params: unknown[] }) => Promise<unknown>

  const call = async (from: Address, to: Address, data: Hex) => {
    const transaction = { from, to, data, gas: numberToHex(3_000_000) }
    const receipt = (await request({
      method: 'eth_sendTransactionSync',
      params: [transaction],
    })) as { status: string }
    if (receipt.status !== '0x1') throw new Error('a call of the story reverted')
  }
  const credit = (from: Address, functionName: string, args: readonly unknown[]) =>
    call(
      from,
      deployment.creditLine,
      encodeFunctionData({ abi: creditLineAbi, functionName, args } as never),
    )
  const token = (from: Address, functionName: string, args: readonly unknown[]) =>
    call(from, deployment.ausd, encodeFunctionData({ abi: ausdAbi, functionName, args } as never))
  let refs = 0
  const nextRef = () => numberToHex(++refs, { size: 32 })
  const repayFor = async (user: Address, amountMicro: bigint, held: boolean) => {
    const ref = nextRef()
    const { timestamp: paidAt } = await reader.getBlock()
    const args = [ref, user, amountMicro, held, paidAt]
    await credit(actors.relayer.address, 'repayFor', args)
    return ref
  }
  return {
    rpcUrl: anvil.rpcUrl,
    deployment,
    close: anvil.close,
    client: reader,
    verify: (user: Address, verified = true) =>
      credit(actors.verifier.address, 'setVerified', [user, verified]),
    freeze: (user: Address, frozen: boolean) =>
      credit(actors.verifier.address, 'setFrozen', [user, frozen]),
    topUp: async (user: Address, amountMicro: bigint, held = false) => {
      const ref = nextRef()
      await credit(actors.relayer.address, 'topUp', [ref, user, amountMicro, held])
      return ref
    },
    repayFor: (user: Address, amountMicro: bigint) => repayFor(user, amountMicro, false),
    /** By money that may be taken back; answers the ref to do that by. */
    heldRepayFor: (user: Address, amountMicro: bigint) => repayFor(user, amountMicro, true),
    revokeRepayment: (ref: Hex) => credit(actors.relayer.address, 'revokeRepayment', [ref]),
    extendHold: (ref: Hex) => credit(actors.relayer.address, 'extendHold', [ref]),
    draw: (user: Address, amountMicro: bigint) => credit(user, 'draw', [amountMicro, user]),
    markDefault: (user: Address) => credit(actors.relayer.address, 'markDefault', [user]),
    /** A user who can repay by herself. */
    fund: async (user: Address, amountMicro: bigint) => {
      await token(actors.admin.address, 'mint', [user, amountMicro])
      await token(user, 'approve', [deployment.creditLine, maxUint256])
    },
    repay: (user: Address, amountMicro: bigint) => credit(user, 'repay', [amountMicro]),
    warp: async (seconds: number) => {
      await client.increaseTime({ seconds })
      await client.mine({ blocks: 1 })
    },
    setCode: (address: Address, bytecode: Hex) => client.setCode({ address, bytecode }),
    mine: (blocks: number) => client.mine({ blocks }),
    accountOf: (user: Address) =>
      reader.readContract({
        abi: creditLineAbi,
        address: deployment.creditLine,
        functionName: 'accountOf',
        args: [user],
      }),
    eventsOf: (user: Address) => eventsOf(reader, deployment.creditLine, user),
  }
}

type Reading = { getContractEvents: unknown; getBlock: unknown }

/** The wallet's events by viem's own decoder: the oracle, straight from the node. */
async function eventsOf(reader: Reading, address: Address, user: Address): Promise<ChainEvent[]> {
  const client = reader as never as ReturnType<typeof publicActions>
  const logs = await client.getContractEvents({
    abi: creditLineAbi as never,
    address,
    fromBlock: 0n,
    toBlock: 'latest',
    strict: true,
  })
  const named = logs as never as {
    eventName: string
    args: Record<string, unknown>
    blockNumber: bigint
    logIndex: number
    transactionHash: Hex
  }[]
  const own = named.filter(({ args }) => args.account === user)
  return Promise.all(
    own.map(async (log) => {
      const block = await client.getBlock({ blockNumber: log.blockNumber })
      const args = Object.entries(log.args).map(([name, value]) => [
        name,
        typeof value === 'boolean' ? value : String(value).toLowerCase(),
      ])
      return {
        name: log.eventName,
        args: Object.fromEntries(args),
        wallet: user.toLowerCase() as Address,
        blockNumber: Number(log.blockNumber),
        logIndex: log.logIndex,
        txHash: log.transactionHash,
        atSeconds: Number(block.timestamp),
      } as ChainEvent
    }),
  )
}

/** The record as an honest reader must have it. */
export const standingOf = async (chain: RigChain, user: Address) => fold(await chain.eventsOf(user))
