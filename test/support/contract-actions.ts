import { expect } from 'bun:test'
import { type Address, parseUnits } from 'viem'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { opKinds } from '#shared/chain/gas'
import { type AccountEvent, statementEvents, statementOf } from '../../services/indexer-reader/statement'
import { type Actor, actors, type ContractsFixture, refOf } from './contracts'

type User = Extract<Actor, 'ana' | 'budi' | 'citra'>
type Read = 'liquidity' | 'poolBalance' | 'totalCollateral' | 'totalShares' | 'sequence'

/** Converts AUSD to 10⁻⁶: `ausd('0.01')`. */
export const ausd = (amount: string): bigint => parseUnits(amount, 6)

/** Outcomes by their number in `CycleClosed`. */
const outcomes = ['Qualified', 'Short', 'Late', 'Defaulted', 'Reversed'] as const

type Relayed = { held?: boolean; paidAt?: bigint; user?: User }

/** Returns actions with amounts in 10⁻⁶ AUSD, for ana by default. */
export function actionsOn(fixture: ContractsFixture) {
  const { creditLine } = fixture.deployment
  const address = (user: User) => actors[user].address

  const calls = {
    topUp: (ref: number, amount: bigint, held = false, user: User = 'ana') =>
      ['relayer', 'topUp', [refOf(ref), address(user), amount, held]] as const,
    repayFor: (ref: number, amount: bigint, { held = true, paidAt = 0n, user = 'ana' }: Relayed = {}) =>
      ['relayer', 'repayFor', [refOf(ref), address(user), amount, held, paidAt]] as const,
    revokeTopUp: (ref: number, left = 0n) => ['relayer', 'revokeTopUp', [refOf(ref), left]] as const,
    revokeRepayment: (ref: number, left = 0n) => ['relayer', 'revokeRepayment', [refOf(ref), left]] as const,
    extendHold: (ref: number) => ['relayer', 'extendHold', [refOf(ref)]] as const,
    draw: (amount: bigint, user: User = 'ana') => [user, 'draw', [amount, address(user)]] as const,
    repay: (amount: bigint, user: User = 'ana') => [user, 'repay', [amount]] as const,
    repayFromCollateral: (amount: bigint, user: User = 'ana') => [user, 'repayFromCollateral', [amount]] as const,
    withdraw: (amount: bigint, user: User = 'ana') => [user, 'withdrawCollateral', [amount, address(user)]] as const,
    setAutoRepay: (maxPerCycle: bigint, fromCollateral = false, user: User = 'ana') =>
      [user, 'setAutoRepay', [maxPerCycle, fromCollateral]] as const,
    autoRepay: (user: User = 'ana', by: Actor = 'citra') => [by, 'autoRepay', [address(user)]] as const,
    markDefault: (user: User = 'ana') => ['relayer', 'markDefault', [address(user)]] as const,
    seizeMore: (user: User = 'ana') => ['relayer', 'seizeMore', [address(user)]] as const,
    addYield: (amount: bigint) => ['admin', 'addYield', [amount]] as const,
    setVerified: (verified: boolean, user: User = 'ana') =>
      ['verifier', 'setVerified', [address(user), verified]] as const,
    setFrozen: (frozen: boolean, user: User = 'ana') => ['verifier', 'setFrozen', [address(user), frozen]] as const,
    pause: () => ['admin', 'pause', []] as const,
    unpause: () => ['admin', 'unpause', []] as const,
  }
  type Calls = typeof calls

  /** Acts. Throws the error's name if it reverts. */
  const act = async <Name extends keyof Calls>(name: Name, ...args: Parameters<Calls[Name]>) => {
    const [from, functionName, given] = (calls[name] as (...all: unknown[]) => CallOf)(...args)
    return await fixture.send(from, 'creditLine', functionName as 'pause', given as [])
  }
  /** Returns the error if the action reverted now, or `accepted`. */
  const answer = async <Name extends keyof Calls>(name: Name, ...args: Parameters<Calls[Name]>) => {
    const [from, functionName, given] = (calls[name] as (...all: unknown[]) => CallOf)(...args)
    return await fixture.refusal(from, 'creditLine', functionName as 'pause', given as [])
  }

  const read = (functionName: Read) =>
    fixture.client.readContract({ abi: creditLineAbi, address: creditLine, functionName })
  const holdOf = async (ref: number) => {
    const [account, encumbered, collateral, shares, until, state] = await fixture.client.readContract({
      abi: creditLineAbi,
      address: creditLine,
      functionName: 'holdOf',
      args: [refOf(ref)],
    })
    return { account, encumbered, collateral, shares, until, state: holdStates[state] }
  }
  const now = async () => (await fixture.client.getBlock()).timestamp
  const at = (timestamp: bigint) => fixture.client.setNextBlockTimestamp({ timestamp })
  const until = async (timestamp: bigint) => {
    await at(timestamp)
    await fixture.client.mine({ blocks: 1 })
  }
  const untilReleased = async (ref: number) => await until((await holdOf(ref)).until)
  return { act, answer, read, holdOf, now, at, until, untilReleased }
}

const holdStates = ['None', 'Held', 'Released', 'Revoked'] as const
type CallOf = readonly [Actor, string, readonly unknown[]]
type Sent = Awaited<ReturnType<ContractsFixture['send']>>

/** Returns the end of a hold in Unix seconds, rounded up to a fifteenth of the hold's length. */
export function holdEnd(time: bigint, holdSeconds: bigint): bigint {
  const step = (holdSeconds + 14n) / 15n
  return ((time + holdSeconds + step - 1n) / step) * step
}

/** Returns operations with consecutive refs from `first`. */
export const heldOps = (
  kind: 'heldTopUp' | 'heldRepayFor',
  first: number,
  count: number,
  amount: bigint,
  user: User = 'ana',
) =>
  Array.from({ length: count }, (_, index) => ({
    kind: opKinds[kind],
    ref: refOf(first + index),
    account: actors[user].address,
    amount,
    paidAt: 0n,
  }))

export const named = (sent: Sent) => sent.events.map((one) => one.eventName)

/**
 * Checks that events are numbered 1 to `sequence()`, and that `accountOf` counts each account's. Returns their names.
 */
export async function checkedEvents(
  { client, deployment: { creditLine: address } }: ContractsFixture,
  accounts: readonly Address[],
  blockNumber: bigint,
): Promise<string[]> {
  const logs = await client.getContractEvents({
    abi: creditLineAbi,
    address,
    fromBlock: 0n,
    toBlock: blockNumber,
    strict: true,
  })
  const events = logs.flatMap(({ eventName, args }) =>
    'sequence' in args ? [{ eventName, args: args as { sequence: bigint; account?: Address } }] : [],
  )
  const view = { abi: creditLineAbi, address, blockNumber } as const
  expect(events.map(({ args }) => args.sequence)).toEqual(events.map((_, at) => BigInt(at) + 1n))
  const count = await client.readContract({ ...view, functionName: 'sequence' })
  expect(count).toBe(BigInt(events.length))
  for (const account of accounts) {
    const own = events.filter(({ args }) => args.account === account)
    const read = { ...view, functionName: 'accountOf', args: [account] } as const
    expect((await client.readContract(read)).events).toBe(BigInt(own.length))
  }
  return events.map(({ eventName }) => eventName)
}

/** Returns what a statement says that accounts have and owe, by the events up to a block. */
export async function statedBalances(
  { client, deployment: { creditLine: address } }: ContractsFixture,
  accounts: readonly Address[],
  blockNumber: bigint,
) {
  const logs = await client.getContractEvents({ abi: creditLineAbi, address, fromBlock: 0n, toBlock: blockNumber })
  const blocks = [...new Set(logs.map((log) => log.blockNumber))]
  const times = new Map(
    await Promise.all(
      blocks.map(async (block) => [block, Number((await client.getBlock({ blockNumber: block })).timestamp)] as const),
    ),
  )
  const untilMs = Number.MAX_SAFE_INTEGER
  return accounts.map((account) => {
    const own = logs.filter(
      ({ eventName, args }) =>
        statementEvents.some((one) => one === eventName) && 'account' in args && args.account === account,
    )
    const events = own.map(({ eventName: name, args, blockNumber: block, transactionHash: txHash }) => ({
      name,
      args: Object.fromEntries(Object.entries(args).map(([key, value]) => [key, String(value)])),
      txHash,
      atSeconds: times.get(block),
    }))
    return statementOf(events as unknown as AccountEvent[], { fromMs: untilMs, untilMs }).opening
  })
}

export function closedAs(sent: Sent) {
  const closed = sent.events.find((one) => one.eventName === 'CycleClosed')
  return closed && outcomes[closed.args.outcome]
}
