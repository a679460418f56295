import { describe, expect, test } from 'bun:test'
import {
  type Address,
  BaseError,
  decodeErrorResult,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  hexToString,
  keccak256,
  numberToHex,
  toBytes,
  zeroHash,
} from 'viem'
import { randomCallsAbi, randomCallsBytecode } from '#infra/contracts/artifacts.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { recordingSeconds } from '#shared/chain/recording-seconds'
import { ausd, checkedEvents, statedBalances } from '#test/support/contract-actions'
import { actors, type ContractsFixture, fixtureTerms, openContractsFixture } from '#test/support/contracts'

const seed = BigInt(process.env.SEED ?? 9)
const callsPerTransaction = 100n
const users = 8n
const transactionGas = 400_000_000n

const minute = { holdSeconds: 60, transactions: 76, longPauses: 4n }
const worlds = [
  { title: 'a hold of a minute', ...minute, lives: 9, withYield: false },
  { title: 'a hold of a minute and yield', ...minute, lives: 3, withYield: true },
  {
    title: 'a hold of days',
    holdSeconds: 2_000_000,
    transactions: 40,
    longPauses: 20n,
    lives: 6,
    withYield: false,
  },
] as const

/** Minimum number of accepted calls, in the order of `RandomCalls.Kind`. */
const leastAccepted = {
  topUp: 3_000,
  heldTopUp: 3_000,
  repayFor: 3_000,
  revokeTopUp: 1_000,
  heldRepayFor: 3_000,
  revokeRepayment: 3_000,
  extendHold: 500,
  repeat: 500,
  many: 2_000,
  draw: 3_000,
  repay: 500,
  repayFromCollateral: 400,
  withdraw: 1_000,
  addYield: 100,
  markDefault: 30,
  seizeMore: 10,
  setVerified: 500,
  setFrozen: 500,
  pause: 100,
  unpause: 100,
  donate: 500,
  setAutoRepay: 500,
  autoRepay: 60,
} as const
const kinds = Object.keys(leastAccepted)
const total = { tried: kinds.map(() => 0), accepted: kinds.map(() => 0) }

let random = keccak256(numberToHex(seed, { size: 32 }))
function nextRandom(): bigint {
  random = keccak256(random)
  return BigInt(random)
}

function pauseSeconds(longPauses: bigint): bigint {
  const way = nextRandom() % 100n
  const most = nextRandom()
  // A default takes a term, grace and the time to record payments; other long pauses end before.
  const leastLong = BigInt(most % 3n === 0n ? 86_400 : 86_400 + recordingSeconds)
  if (way < longPauses) return leastLong + (most % 100_000n)
  if (way < 12n + longPauses) return 600n + (most % 20_000n)
  return way < 40n ? 40n + (most % 600n) : 1n + (most % 40n)
}

/**
 * Declares the tests. `all` makes more than 100,000 calls. `SEED=7` changes them, `SHOW_CALLS=1` counts them.
 * `src/test/RandomCalls.sol` checks each.
 */
export function randomLives(which: 'some' | 'all'): void {
  const livesOf = ({ lives }: (typeof worlds)[number]) => (which === 'all' ? lives : 1)
  const share =
    worlds.reduce((sum, world) => sum + livesOf(world), 0) / worlds.reduce((sum, { lives }) => sum + lives, 0)
  const leastCalls = Math.round(100_000 * share)

  describe.each(worlds)('with $title', (world) => {
    test.each(Array.from({ length: livesOf(world) }, (_, index) => index + 1))(
      'all AUSD is somewhere and secured, and everybody leaves with what is theirs (life %d)',
      () => live(world),
    )
  })

  test(`at least ${leastCalls} random calls were made, and many of every kind were accepted`, () => {
    if (process.env.SHOW_CALLS) {
      console.table(kinds.map((kind, at) => ({ kind, tried: total.tried[at], accepted: total.accepted[at] })))
    }
    expect(total.tried.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(leastCalls)
    const rare = Object.entries(leastAccepted).filter(([, least], at) => total.accepted[at]! < least * share)
    expect(rare).toEqual([])
  })
}

async function live(world: (typeof worlds)[number]): Promise<void> {
  const { holdSeconds, transactions, longPauses, withYield } = world
  const fixture = await openContractsFixture(
    { holdSeconds, liquidityMicro: ausd('1500'), treasuryFundsMicro: ausd('1000000000') },
    ['--gas-limit', String(2n * transactionGas)],
  )
  try {
    const harness = await deployHarness(fixture, withYield)
    for (let sent = 0; sent < transactions; sent++) {
      const { timestamp } = await fixture.client.getBlock()
      const next = timestamp + pauseSeconds(longPauses)
      await fixture.client.setNextBlockTimestamp({ timestamp: next })
      await transact(fixture, harness, callOf('run', [nextRandom(), callsPerTransaction]))
    }
    await checkStatements(fixture, harness, withYield)
    await transact(fixture, harness, callOf('rest', []))
    // The chain moves past every hold and term, including extensions and pauses.
    const { termSeconds, graceSeconds } = fixtureTerms
    await fixture.warp(holdSeconds + termSeconds + graceSeconds + 100 * 86_400)
    await transact(fixture, harness, callOf('finish', []))
    await countCalls(fixture, harness)
    const people = await peopleOf(fixture, harness)
    const names = await checkedEvents(fixture, people, await fixture.client.getBlockNumber())
    expect(names.length).toBeGreaterThan(transactions)
    await checkStatements(fixture, harness, withYield)
  } finally {
    await fixture.close()
  }
}

/** Shares that 10⁻⁶ AUSD buys without yield. */
const sharesPerMicro = 1_000_000n

/** Checks that statements owe what the contract says and, as long as a share has one price, have its collateral. */
async function checkStatements(fixture: ContractsFixture, harness: Address, withYield: boolean): Promise<void> {
  const { client, deployment } = fixture
  const people = await peopleOf(fixture, harness)
  const blockNumber = await client.getBlockNumber()
  const line = { abi: creditLineAbi, address: deployment.creditLine, blockNumber } as const
  const accounts = await Promise.all(
    people.map((person) => client.readContract({ ...line, functionName: 'accountOf', args: [person] })),
  )
  const stated = await statedBalances(fixture, people, blockNumber)
  expect(stated.map(({ debt }) => debt)).toEqual(accounts.map(({ drawn }) => String(drawn)))
  const shares = accounts.map((one) => one.shares + one.pendingShares)
  const collaterals = stated.map(({ collateral }) => BigInt(collateral!))
  if (!withYield) expect(collaterals.map((micro) => micro * sharesPerMicro)).toEqual(shares)
  // Yield leaves fractions of a unit behind, which nobody can withdraw.
  else expect(collaterals.map((micro) => micro === 0n)).toEqual(shares.map((one) => one < sharesPerMicro))
}

const callOf = (functionName: 'run' | 'begin' | 'rest' | 'finish', args: readonly bigint[]) =>
  encodeFunctionData({ abi: randomCallsAbi, functionName, args } as never)

async function transact(fixture: ContractsFixture, to: Address | undefined, data: Hex, gas = transactionGas) {
  const transaction = { from: actors.admin.address, data, gas: numberToHex(gas), ...(to && { to }) }
  const receipt = await fixture.sendRaw(transaction)
  if (receipt.status === 'success') return receipt
  throw new Error(await complaintOf(fixture, receipt.blockNumber, to, data))
}

async function complaintOf(fixture: ContractsFixture, block: bigint, to: Address | undefined, data: Hex) {
  const { timestamp } = await fixture.client.getBlock({ blockNumber: block })
  const again = fixture.client.call({
    account: actors.admin.address,
    to,
    data,
    gas: transactionGas,
    blockNumber: block - 1n,
    blockOverrides: { time: timestamp },
  })
  const error = await again.then(
    () => new Error('it was accepted when called again'),
    (thrown: unknown) => thrown,
  )
  const carrier = error instanceof BaseError && error.walk((one) => 'data' in (one as object))
  const reason = (carrier as { data?: Hex } | false | null) || {}
  if (typeof reason.data !== 'string') throw error
  const abi = [...randomCallsAbi, ...creditLineAbi] as const
  const decoded = decodeErrorResult({ abi, data: reason.data })
  if (decoded.errorName !== 'Broken') return decoded.errorName
  const [what, call, kind, found, wanted] = decoded.args
  const words = hexToString(what, { size: 32 }).replaceAll('\0', '')
  return `"${words}" broke at call ${call}, a ${kinds[Number(kind)]}: ${found}, not ${wanted}`
}

async function deployHarness(fixture: ContractsFixture, withYield: boolean): Promise<Address> {
  const code = encodeDeployData({
    abi: randomCallsAbi,
    bytecode: randomCallsBytecode,
    args: [fixture.deployment.creditLine, users, withYield],
  })
  const harness = (await transact(fixture, undefined, code, 30_000_000n)).contractAddress!
  const roles = ['RELAYER_ROLE', 'VERIFIER_ROLE', 'PAUSER_ROLE'].map((one) => keccak256(toBytes(one)))
  if (withYield) roles.push(zeroHash)
  await fixture.send('admin', 'ausd', 'mint', [harness, ausd('1000000')])
  for (const role of roles) await fixture.send('admin', 'creditLine', 'grantRole', [role, harness])
  for (const person of await peopleOf(fixture, harness)) {
    await fixture.send('admin', 'ausd', 'mint', [person, ausd('1000000')])
  }
  await transact(fixture, harness, callOf('begin', []))
  return harness
}

const peopleOf = (fixture: ContractsFixture, harness: Address) =>
  fixture.client.readContract({
    abi: randomCallsAbi,
    address: harness,
    functionName: 'people',
  })

async function countCalls(fixture: ContractsFixture, harness: Address) {
  const [tried, accepted] = await fixture.client.readContract({
    abi: randomCallsAbi,
    address: harness,
    functionName: 'counts',
  })
  for (const at of kinds.keys()) {
    total.tried[at]! += Number(tried[at])
    total.accepted[at]! += Number(accepted[at])
  }
}
