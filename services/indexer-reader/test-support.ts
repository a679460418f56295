import postgres from 'postgres'
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
import { type Clock, systemClock } from '#platform/clock'
import { type Database, openDatabase } from '#platform/db/open'
import { openLog } from '#platform/log'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { openRpcEndpoints, type RpcEndpoints } from '#shared/chain/endpoints'
import { recordingSeconds } from '#shared/chain/recording-seconds'
import { actorKeys, actors, deployContracts } from '#test/support/contracts'
import { startAnvil } from '#test/support/engines/anvil'
import type { ScratchPostgres } from '#test/support/scratch-postgres'
import { type Context, openContext } from './context'
import type { ChainEvent } from './event'
import { startFollowing } from './follow'
import { fold } from './projection'
import { answerRecord } from './record'

/** Terms with holds of one minute, cycles of 1 to 30 minutes, and one day of grace. */
export const testTerms = {
  holdSeconds: 60,
  minCycleSeconds: 60,
  minDebtMicro: 1_000_000n,
  termSeconds: 1_800,
  graceSeconds: 86_400,
} as const

/** Steps of a hold's end in seconds: holds end at multiples of it. */
const holdStep = testTerms.holdSeconds / 15

export type TestChain = Awaited<ReturnType<typeof openTestChain>>

/** Starts a chain on which each call is its own block, final after two more. */
export async function openTestChain(terms: { holdSeconds?: number; termSeconds?: number } = {}) {
  const anvil = await startAnvil(['--slots-in-an-epoch', '1', '--order', 'fifo'])
  const deployment = await deployContracts({
    ...testTerms,
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
    if (receipt.status !== '0x1') throw new Error('a scripted call reverted')
  }
  const credit = (from: Address, functionName: string, args: readonly unknown[]) =>
    call(from, deployment.creditLine, encodeFunctionData({ abi: creditLineAbi, functionName, args } as never))
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
    verify: (user: Address, verified = true) => credit(actors.verifier.address, 'setVerified', [user, verified]),
    freeze: (user: Address, frozen: boolean) => credit(actors.verifier.address, 'setFrozen', [user, frozen]),
    topUp: async (user: Address, amountMicro: bigint, held = false) => {
      const ref = nextRef()
      await credit(actors.relayer.address, 'topUp', [ref, user, amountMicro, held])
      return ref
    },
    repayFor: (user: Address, amountMicro: bigint) => repayFor(user, amountMicro, false),
    /** Repays with held money and returns the ref, for a revocation. */
    heldRepayFor: (user: Address, amountMicro: bigint) => repayFor(user, amountMicro, true),
    revokeRepayment: (ref: Hex, leftMicro = 0n) => credit(actors.relayer.address, 'revokeRepayment', [ref, leftMicro]),
    extendHold: (ref: Hex) => credit(actors.relayer.address, 'extendHold', [ref]),
    draw: (user: Address, amountMicro: bigint) => credit(user, 'draw', [amountMicro, user]),
    withdraw: (user: Address, amountMicro: bigint) => credit(user, 'withdrawCollateral', [amountMicro, user]),
    repayFromCollateral: (user: Address, amountMicro: bigint) => credit(user, 'repayFromCollateral', [amountMicro]),
    markDefault: (user: Address) => credit(actors.relayer.address, 'markDefault', [user]),
    seizeMore: (user: Address) => credit(actors.relayer.address, 'seizeMore', [user]),
    addYield: async (amountMicro: bigint) => {
      await token(actors.admin.address, 'mint', [actors.admin.address, amountMicro])
      await token(actors.admin.address, 'approve', [deployment.creditLine, maxUint256])
      await credit(actors.admin.address, 'addYield', [amountMicro])
    },
    pause: () => credit(actors.admin.address, 'pause', []),
    unpause: () => credit(actors.admin.address, 'unpause', []),
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
    sequence: async () =>
      Number(
        await reader.readContract({
          abi: creditLineAbi,
          address: deployment.creditLine,
          functionName: 'sequence',
        }),
      ),
    /** Returns the events of a user and those that concern all users. */
    eventsOf: async (user: Address) =>
      (await allEvents(reader, deployment.creditLine)).filter(
        ({ wallet }) => wallet === null || wallet === user.toLowerCase(),
      ),
  }
}

type LogReader = { getContractEvents: unknown; getBlock: unknown }

/** Reads all events with viem's decoder, which is the oracle. */
async function allEvents(reader: LogReader, address: Address): Promise<ChainEvent[]> {
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
  const numbered = named.filter(({ args }) => args.sequence !== undefined)
  return Promise.all(
    numbered.map(async (log) => {
      const block = await client.getBlock({ blockNumber: log.blockNumber })
      const args = Object.entries(log.args).map(([name, value]) => [
        name,
        typeof value === 'boolean' ? value : String(value).toLowerCase(),
      ])
      return {
        name: log.eventName,
        args: Object.fromEntries(args),
        wallet: (log.args.account as Address | undefined)?.toLowerCase() ?? null,
        blockNumber: Number(log.blockNumber),
        logIndex: log.logIndex,
        txHash: log.transactionHash,
        atSeconds: Number(block.timestamp),
      } as ChainEvent
    }),
  )
}

export const standingOf = async (chain: TestChain, user: Address) => fold(await chain.eventsOf(user))

/** Opens a database with the rights of the reader's role. */
export async function openTestDatabase(server: ScratchPostgres, name: string) {
  const at = (path: string) => Object.assign(new URL(server.adminUrl), { pathname: path }).href
  // The database to copy must have no other session.
  const admin = postgres(at('/template1'), { max: 1, onnotice: () => {} })
  await admin.unsafe(`drop database if exists ${name} with (force)`)
  await admin.unsafe(`create database ${name} template postgres`)
  await admin.end()
  const adminUrl = at(`/${name}`)
  const { passwords } = server
  const own = server.urlAs('indexer_reader', passwords.indexer_reader)
  const url = Object.assign(new URL(own), { pathname: `/${name}` }).href
  const database = openDatabase({ url, name: 'test', log: testLog, onFatal: () => {} })
  return { database, url, adminUrl }
}

/** Log of the reader, which `TEST_LOG=debug` shows. */
export const testLog = openLog('test', process.env.SUITE_LOG ?? 'silent')

/** Opens endpoints with batches and without budgets. */
export function openTestEndpoints(rpcUrls: readonly string[]): RpcEndpoints {
  const rpc = openRpcEndpoints({ rpcUrls })
  for (const endpoint of rpc.all) endpoint.takesBatches = true
  return rpc
}

/** Starts a reader. `stop` acts as a signal does; `ended` rejects on foreign rows. */
export function startReader(options: {
  database: Database
  chain: TestChain
  rpcUrls: readonly string[]
  logsRangeMax?: number
  genesisHash?: string
  chainId?: number
  clock?: Clock
  lagMaxMs?: number
}): { context: Context; stop: () => Promise<void>; ended: Promise<void> } {
  const { deployment } = options.chain
  const context = openContext({
    database: options.database,
    rpc: openTestEndpoints(options.rpcUrls),
    identity: {
      chainId: options.chainId ?? 10_143,
      genesisHash: options.genesisHash ?? deployment.genesisHash,
      contract: deployment.creditLine.toLowerCase() as Address,
    },
    deployBlock: Number(deployment.deployBlock),
    logsRangeMax: options.logsRangeMax ?? 100,
    pollMs: 20,
    // A test's chain stands still between its calls, so every record lags.
    lagMaxMs: options.lagMaxMs ?? 600_000,
    clock: options.clock ?? systemClock,
    log: testLog,
  })
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  ended.catch(() => {})
  const following = startFollowing(context, reject)
  return {
    context,
    ended,
    stop: async () => {
      await following[Symbol.asyncDispose]()
      resolve()
    },
  }
}

/** Requests a record as the gateway does, without the bus. */
export async function askRecord(
  context: Context,
  wallet: string,
  change: { nowMs?: () => number; lagMaxMs?: number } = {},
) {
  const { nowMs = context.clock, lagMaxMs = context.lagMaxMs } = change
  return answerRecord({ ...context, clock: nowMs, lagMaxMs }).answer({ wallet }) as Promise<
    { ok: { history: unknown; blockNumber: string } } | { refused: string }
  >
}

export const ana = actors.ana.address
export const budi = actors.budi.address
export const citra = actors.citra.address

export const ausd = 1_000_000n

/**
 * Plays a story in which Ana has every outcome except Defaulted, and an open cycle; Budi has Defaulted; Citra has only
 * collateral, and is frozen for a while.
 */
export async function playStory(chain: TestChain): Promise<void> {
  for (const user of [ana, budi]) {
    await chain.verify(user)
    await chain.fund(user, 10_000n * ausd)
    await chain.topUp(user, 1_000n * ausd)
  }
  const held = await chain.topUp(citra, 5n * ausd, true)
  await chain.warp(holdStep)
  await chain.extendHold(held)
  await chain.freeze(citra, true)
  await chain.freeze(citra, false)
  await chain.draw(budi, 300n * ausd)

  await chain.draw(ana, 100n * ausd)
  await chain.repay(ana, 100n * ausd)

  await chain.draw(ana, 100n * ausd)
  await chain.draw(ana, 50n * ausd)
  await chain.repay(ana, 70n * ausd)
  await chain.warp(testTerms.minCycleSeconds + 1)
  await chain.repayFor(ana, 80n * ausd)

  await chain.draw(ana, 10n * ausd)
  await chain.warp(testTerms.termSeconds + 1)
  await chain.repay(ana, 10n * ausd)

  await playReversals(chain)

  await chain.warp(testTerms.graceSeconds + recordingSeconds + 1)
  await chain.markDefault(budi)
  await chain.draw(ana, 7n * ausd)
  await chain.pause()
  await chain.warp(30)
  await chain.unpause()
  await chain.mine(2)
}

/** Revokes repayments of Ana's cycles: after closing, while another is open, and at once. */
async function playReversals(chain: TestChain): Promise<void> {
  await chain.draw(ana, 20n * ausd)
  await chain.warp(testTerms.minCycleSeconds + 1)
  const taken = await chain.heldRepayFor(ana, 12n * ausd)
  await chain.warp(holdStep)
  await chain.extendHold(taken)
  await chain.repay(ana, 8n * ausd)
  await chain.revokeRepayment(taken)
  await chain.repay(ana, 12n * ausd)

  await chain.draw(ana, 20n * ausd)
  await chain.warp(testTerms.minCycleSeconds + 1)
  const late = await chain.heldRepayFor(ana, 20n * ausd)
  await chain.draw(ana, 5n * ausd)
  await chain.revokeRepayment(late)
  await chain.warp(testTerms.minCycleSeconds + 1)
  await chain.repay(ana, 25n * ausd)

  await chain.draw(ana, 30n * ausd)
  await chain.revokeRepayment(await chain.heldRepayFor(ana, 10n * ausd))
  await chain.repay(ana, 30n * ausd)

  // Of two repayments a part is revoked, and one of them brings an older debt into the open cycle.
  await chain.draw(ana, 40n * ausd)
  await chain.warp(testTerms.minCycleSeconds + 1)
  const split = await chain.heldRepayFor(ana, 40n * ausd)
  await chain.warp(1)
  await chain.draw(ana, 5n * ausd)
  await chain.revokeRepayment(split, 25n * ausd)
  await chain.addYield(1n)
  await chain.repay(ana, 20n * ausd)
}

export async function playMore(chain: TestChain, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    await chain.draw(ana, ausd)
    await chain.topUp(citra, ausd)
    await chain.repay(ana, ausd)
  }
  await chain.mine(2)
}
