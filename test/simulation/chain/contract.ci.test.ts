import { describe, expect, test } from 'bun:test'
import { decodeErrorResult, encodeFunctionData, type Hex, maxUint256, parseEventLogs } from 'viem'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { opKinds } from '#shared/chain/gas'
import { closedAs } from '#test/support/contract-actions'
import {
  type Actor,
  actors,
  type ContractsFixture,
  fixtureTerms,
  openContractsFixture,
  refOf,
} from '#test/support/contracts'
import { chance, oneOf, pick, seeded } from '../world/choices'
import { type CallRefusal, type Op, opsOf } from './calls'
import { type Applied, Contract } from './contract'
import { defaultsAtOf, dueAtOf, fixedTerms, limitOf, startsAtOf, takenInCycle } from './line'

// Model and contract take the same random calls. They must refuse the same ones for the same reason, and have the same
// accounts and dates after each.

const livesPerHold = 6
const callsPerLife = 200
const ratioBps = 5_000
/** More than a cycle can have, so that no reward changes a ratio. */
const minDebtMicro = 2n ** 40n - 1n

const users = ['ana', 'budi'] as const
type User = (typeof users)[number]
const walletOf = (user: User) => actors[user].address.toLowerCase() as Hex

const seen = new Map<string, number>()
const note = (sight: string) => void seen.set(sight, (seen.get(sight) ?? 0) + 1)

type Args = readonly unknown[]
/** A call. Without `op`, the model reads what the call does from its data, as it does for the relayer. */
type Call = { readonly from: Actor; readonly name: string; readonly args: Args; readonly op?: Op }

describe.each([
  { title: 'a hold of a minute', holdSeconds: 60 },
  { title: 'a hold that outlasts a default', holdSeconds: 900_000 },
])('with $title', ({ holdSeconds }) => {
  test('the model of the credit line does as the contract does', async () => {
    const fixture = await openContractsFixture({ holdSeconds, minDebtMicro, initialRatioBps: ratioBps })
    try {
      const lives = Array.from({ length: livesPerHold }, (_, seed) => randomCalls(seed + 1))
      for (const calls of [...lives, rareCalls]) {
        await fixture.checkpoint()
        await live(fixture, holdSeconds, calls)
        await fixture.rewind()
      }
    } finally {
      await fixture.close()
    }
  }, 240_000)
})

test('the contract accepted and refused calls for every reason that the model knows', () => {
  if (process.env.SHOW_CALLS) console.table([...seen].sort())
  expect(wanted.filter((sight) => !seen.has(sight))).toEqual([])
})

const wanted = Object.entries({
  credit: ['accepted', 'EnforcedPause', 'RefConflict'],
  repay: ['accepted', 'EnforcedPause', 'RefConflict'],
  revoke: ['accepted', 'NotHeld'],
  extend: ['accepted', 'NotHeld', 'HoldNotExtendable'],
  frozen: ['accepted'],
  draw: ['accepted', 'EnforcedPause', 'AccountDefaulted', 'AccountFrozen', 'TermPassed', 'LimitExceeded'],
  withdraw: ['accepted', 'EnforcedPause', 'AccountFrozen', 'InsufficientCollateral', 'LimitExceeded'],
  'repay own': ['accepted', 'NothingOwed'],
  autorepay: [
    'accepted',
    'EnforcedPause',
    'NothingOwed',
    'AutoRepayNotAllowed',
    'AutoRepayTooEarly',
    'AutoRepayLimitReached',
  ],
  default: ['accepted', 'EnforcedPause', 'AccountDefaulted', 'NothingOwed', 'TermNotPassed'],
  seize: ['accepted', 'EnforcedPause', 'NotDefaulted', 'NothingOwed'],
  pause: ['accepted', 'EnforcedPause'],
  unpause: ['accepted', 'ExpectedPause'],
  closed: ['Short', 'Late', 'Reversed', 'Defaulted'],
}).flatMap(([kind, ends]) => ends.map((end) => `${kind}: ${end}`))

async function live(fixture: ContractsFixture, holdSeconds: number, callsOf: CallsOf): Promise<void> {
  const model = new Contract(actors.treasury.address.toLowerCase() as Hex, {
    ...fixedTerms,
    holdSeconds: BigInt(holdSeconds),
    termSeconds: BigInt(fixtureTerms.termSeconds),
    graceSeconds: BigInt(fixtureTerms.graceSeconds),
    ratioBps: BigInt(ratioBps),
  })
  const { timestamp, number: latest } = await fixture.client.getBlock()
  let [time, block] = [timestamp, latest]
  for (const user of users) {
    model.funds.set(walletOf(user), await fixture.balanceOf(actors[user].address))
    model.apply({ kind: 'approve', wallet: walletOf(user), amount: maxUint256 }, { block, time, txHash: '0x' })
  }
  const { timeAfter, callAt, count } = callsOf(model)
  const { creditLine } = fixture.deployment
  for (let number = 0; number < count; number++) {
    time = timeAfter(block, time)
    const { from, name, args, op } = callAt(block, time)
    const data = encodeFunctionData({ abi: creditLineAbi, functionName: name as 'pause', args: args as [] })
    await fixture.client.setNextBlockTimestamp({ timestamp: time })
    const receipt = await fixture.sendRaw({ from: actors[from].address, to: creditLine, data, gas: '0xb71b00' })
    block = receipt.blockNumber
    const call = `call ${number} at ${time}: ${name} ${args.map(String).join(' ')}`
    const isReverted = receipt.status === 'reverted'
    const revert = isReverted ? await fixture.refusal(from, 'creditLine', name as 'pause', args as []) : undefined
    const events = parseEventLogs({ abi: creditLineAbi, logs: receipt.logs })
    const failed = new Map(
      events.flatMap((one) =>
        one.eventName === 'OpFailed' ? [[Number(one.args.index), reasonIn(one.args.reason)]] : [],
      ),
    )
    const closedBefore = model.closed.all.length
    for (const [index, one] of (op ? [op] : opsOf(creditLine, data, 0n)).entries()) {
      const refusal = model.apply(one, { block, time, txHash: receipt.transactionHash })
      expect<unknown>({ call, refusal }).toEqual({ call, refusal: revert ?? failed.get(index) })
      note(`${one.kind}: ${refusal ?? 'accepted'}`)
    }
    const outcome = model.closed.all[closedBefore]?.outcome
    expect<unknown>({ call, outcome }).toEqual({ call, outcome: closedAs({ events } as never) })
    if (outcome) note(`closed: ${outcome}`)
    for (const user of users)
      expect<unknown>({ call, ...inModel(model, user, { block, time }) }).toEqual({
        call,
        ...(await inContract(fixture, user)),
      })
  }
}

const reasonIn = (data: Hex) => decodeErrorResult({ abi: creditLineAbi, data }).errorName as CallRefusal

async function inContract({ client, deployment, ...fixture }: ContractsFixture, user: User) {
  const { address } = actors[user]
  const [account, [max, fromCollateral, taken, startsAt], balance] = await Promise.all([
    fixture.accountOf(user),
    client.readContract({
      abi: creditLineAbi,
      address: deployment.creditLine,
      functionName: 'autoRepayOf',
      args: [address],
    }),
    fixture.balanceOf(address),
  ])
  return {
    drawn: account.drawn,
    free: account.collateral,
    // A share is a millionth of a unit without yield.
    pending: account.pendingShares / 1_000_000n,
    encumbered: account.encumbered,
    limit: account.limit,
    openedAt: account.openedAt,
    dueAt: account.dueAt,
    defaultsAt: account.defaultsAt,
    isDefaulted: account.defaulted,
    isFrozen: account.frozen,
    closedCycles: Number(account.cycles),
    max,
    fromCollateral,
    taken,
    startsAt,
    balance,
  }
}

function inModel(model: Contract, user: User, { block, time }: { readonly block: bigint; readonly time: bigint }) {
  const account = model.accountAt(walletOf(user), block, time)
  const { line, free, pending, encumbered, balance, isFrozen } = account
  const now = model.nowAt(block, time)
  const isOpen = line.openedAt > 0n
  return {
    drawn: line.drawn,
    free,
    pending,
    encumbered,
    limit: limitOf(account, model.terms),
    openedAt: line.openedAt,
    dueAt: isOpen ? dueAtOf(line, now.pauses) : 0n,
    defaultsAt: isOpen ? defaultsAtOf(line, now) : 0n,
    isDefaulted: line.isDefaulted,
    isFrozen,
    closedCycles: line.cycle - 1,
    max: line.max,
    fromCollateral: line.fromCollateral,
    taken: isOpen ? takenInCycle(line) : 0n,
    startsAt: isOpen ? startsAtOf(line, now) : 0n,
    balance,
  }
}

/** Returns calls, and the times at which they are made. */
type CallsOf = (model: Contract) => {
  readonly count: number
  readonly callAt: (block: bigint, time: bigint) => Call
  readonly timeAfter: (block: bigint, time: bigint) => bigint
}

/**
 * What random calls seldom do: a repayment is revoked in an open cycle, and another after a default; and one that was made late,
 * but before a pause, is recorded after it.
 */
const rareCalls: CallsOf = ({ terms }) => {
  const wallet = walletOf('ana')
  const relayed = (name: string, args: Args): Call => ({ from: 'relayer', name, args })
  const draw: Call = {
    from: 'ana',
    name: 'draw',
    args: [3_000_000n, wallet],
    op: { kind: 'draw', wallet, amount: 3_000_000n },
  }
  const repay: Call = {
    from: 'ana',
    name: 'repay',
    args: [3_000_000n],
    op: { kind: 'repay own', wallet, amount: 3_000_000n },
  }
  const byAnyone = (name: string, op: Op): Call => ({ from: 'citra', name, args: [wallet], op })
  const untilDefault = terms.termSeconds + terms.graceSeconds + terms.recordingSeconds + 1n
  const pause = (kind: 'pause' | 'unpause'): Call => ({ from: 'admin', name: kind, args: [], op: { kind } })
  const secondsPaused = 500n
  const paidBeforePause = (time: bigint) =>
    relayed('repayFor', [refOf(5), wallet, 3_000_000n, false, time - secondsPaused - 50n])
  const calls: (readonly [bigint, Call | ((time: bigint) => Call)])[] = [
    [1n, relayed('topUp', [refOf(1), wallet, 10_000_000n, false])],
    [1n, draw],
    [1n, relayed('repayFor', [refOf(2), wallet, 1_000_000n, true, 0n])],
    [1n, relayed('revokeRepayment', [refOf(2), 0n])],
    [1n, repay],
    [1n, draw],
    [terms.termSeconds + 100n, pause('pause')],
    [secondsPaused, pause('unpause')],
    [1n, paidBeforePause],
    [1n, draw],
    [1n, relayed('repayFor', [refOf(3), wallet, 1_000_000n, true, 0n])],
    [untilDefault, byAnyone('markDefault', { kind: 'default', wallet })],
    [1n, relayed('revokeRepayment', [refOf(3), 400_000n])],
    [1n, relayed('repayFor', [refOf(4), wallet, 100_000n, false, 0n])],
    [1n, byAnyone('seizeMore', { kind: 'seize', wallet })],
  ]
  let number = 0
  return {
    count: calls.length,
    timeAfter: (_, time) => time + calls[number]![0],
    callAt: (_, time) => {
      const call = calls[number++]![1]
      return typeof call === 'function' ? call(time) : call
    },
  }
}

const randomCalls =
  (seed: number): CallsOf =>
  (model) => {
    const choices = seeded(seed)
    let refs = 0
    const amount = () => pick(choices, [300_000n, 1_000_000n, 2_000_000n, 4_000_001n])

    /** Returns a payment, which is usually held and of this kind. */
    function known(block: bigint, time: bigint, kind?: 'credit' | 'repay'): Hex {
      const isMeant = (one: Applied) => one.held && (!kind || one.kind === kind) && model.leftAt(one, block) > 0n
      const held = model.applied.all.filter((one) => isMeant(one) && model.untilOf(one, block) > time)
      if (held.length > 0 && chance(choices, 800)) return pick(choices, held).ref
      return refOf(Math.max(1, refs - oneOf(choices, 12)))
    }

    function relayed(user: User, block: bigint, time: bigint): readonly [string, Args] {
      const ref = refs > 0 && chance(choices, 100) ? refOf(1 + oneOf(choices, refs)) : undefined
      const next = () => ref ?? refOf(++refs)
      const left = pick(choices, [0n, 0n, 500_000n])
      const isHeld = chance(choices, 600)
      const paidAt = time - BigInt(pick(choices, [0, 100, 3_000, 700_000]))
      switch (oneOf(choices, 8)) {
        case 0:
        case 1:
        case 2:
          return ['topUp', [next(), walletOf(user), 2n * amount(), isHeld]]
        case 3:
        case 4:
          return ['repayFor', [next(), walletOf(user), amount(), isHeld, paidAt]]
        case 5:
          return ['revokeTopUp', [known(block, time, 'credit'), left]]
        case 6:
          return ['revokeRepayment', [known(block, time, 'repay'), left]]
        default:
          return ['extendHold', [known(block, time)]]
      }
    }

    function callAt(block: bigint, time: bigint): Call {
      const user = pick(choices, users)
      const wallet = walletOf(user)
      const { line, free, isFrozen } = model.accountAt(wallet, block, time)
      const ofUser = (name: string, args: Args, op: Op): Call => ({ from: user, name, args, op })
      const isPaused = model.pausesAt(block).since > 0n
      if (isPaused && chance(choices, 150)) return { from: 'admin', name: 'unpause', args: [], op: { kind: 'unpause' } }
      // Only a revocation leaves a defaulted account in debt.
      if (line.isDefaulted && chance(choices, 200))
        return { from: 'relayer', name: 'revokeRepayment', args: [known(block, time, 'repay'), 0n] }
      const draw = (micro: bigint) => ofUser('draw', [micro, wallet], { kind: 'draw', wallet, amount: micro })
      switch (oneOf(choices, 19)) {
        case 0:
        case 1:
        case 2:
          return draw(amount())
        case 3: {
          const micro = pick(choices, [amount(), free + 1n, 200_000n])
          return ofUser('withdrawCollateral', [micro, wallet], { kind: 'withdraw', wallet, amount: micro })
        }
        case 4: {
          const micro = amount()
          return ofUser('repay', [micro], { kind: 'repay own', wallet, amount: micro })
        }
        case 5: {
          const max = pick(choices, [0n, 400_000n, 10n ** 12n])
          const fromCollateral = chance(choices, 500)
          return ofUser('setAutoRepay', [max, fromCollateral], { kind: 'allow', wallet, max, fromCollateral })
        }
        case 6:
        case 7:
          return { from: 'citra', name: 'autoRepay', args: [wallet] }
        case 8:
          if (!isFrozen && chance(choices, 700)) return draw(amount())
          return { from: 'verifier', name: 'setFrozen', args: [wallet, !isFrozen] }
        case 9:
          return { from: 'citra', name: 'markDefault', args: [wallet], op: { kind: 'default', wallet } }
        case 10:
        case 11:
          if (!line.isDefaulted && chance(choices, 700)) return draw(300_000n)
          return { from: 'citra', name: 'seizeMore', args: [wallet], op: { kind: 'seize', wallet } }
        case 12: {
          if (!isPaused && chance(choices, 600)) return draw(300_000n)
          const kind = isPaused !== chance(choices, 300) ? 'unpause' : 'pause'
          return { from: 'admin', name: kind, args: [], op: { kind } }
        }
        case 13: {
          const ops = Array.from({ length: 3 }, () => opOf(relayed(user, block, time)))
          return { from: 'relayer', name: 'many', args: [ops] }
        }
        default: {
          const [name, args] = relayed(user, block, time)
          return { from: 'relayer', name, args }
        }
      }
    }

    /** Returns a later time, which is often the end of a hold, a due date or another edge, or a second beside it. */
    function timeAfter(block: bigint, time: bigint): bigint {
      const { line } = model.accountAt(walletOf(pick(choices, users)), block, time)
      const now = model.nowAt(block, time)
      const hold = model.applied.about(known(block, time))[0]
      const edges = [
        ...(hold ? [model.untilOf(hold, block)] : []),
        ...(line.openedAt > 0n ? [dueAtOf(line, now.pauses), startsAtOf(line, now)] : []),
        ...(line.openedAt > 0n && chance(choices, 700) ? [defaultsAtOf(line, now) + model.terms.recordingSeconds] : []),
        time + BigInt(oneOf(choices, 100_000)),
      ]
      const soon = time + BigInt(1 + oneOf(choices, pick(choices, [8, 8, 8, 8, 8, 300])))
      const edge = pick(choices, edges) + BigInt(oneOf(choices, 3)) - 1n
      return chance(choices, 120) && edge > time ? edge : soon
    }

    return { count: callsPerLife, callAt, timeAfter }
  }

/** Returns a relayed call as an operation of `many`. */
function opOf([name, args]: readonly [string, Args]) {
  const [ref, second, third, held, paidAt] = args as [Hex, Hex | bigint | undefined, bigint, boolean, bigint]
  const kinds: Readonly<Record<string, number>> = {
    topUp: opKinds[held ? 'heldTopUp' : 'topUp'],
    repayFor: opKinds[held ? 'heldRepayFor' : 'repayFor'],
    revokeTopUp: opKinds.revokeTopUp,
    revokeRepayment: opKinds.revokeRepayment,
    extendHold: opKinds.extendHold,
  }
  const isPayment = typeof second === 'string'
  return {
    kind: kinds[name],
    ref,
    account: isPayment ? second : walletOf('ana'),
    amount: isPayment ? third : (second ?? 0n),
    paidAt: paidAt ?? 0n,
  }
}
