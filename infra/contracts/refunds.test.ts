import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { recordingSeconds } from '#shared/chain/recording-seconds'
import { actionsOn, ausd } from '#test/support/contract-actions'
import { actors, fixtureTerms, openContractsFixture } from '#test/support/contracts'

/**
 * In each case Ana, who has 100 AUSD of collateral and a debt of 50, pays, takes out all she can, is refunded, and
 * takes out all she can before and after a default. She must not gain.
 */
const fixture = await openContractsFixture()
const { act, answer, read, now, until, holdOf } = actionsOn(fixture)
afterAll(fixture.close)
beforeEach(fixture.checkpoint)
afterEach(fixture.rewind)

const { creditLine, treasury } = fixture.deployment
const channels = ['a held channel', 'a channel never held'] as const
const payments = ['top-up', 'settlement', 'settlement with excess'] as const
const times = ['before the credit', 'in the hold', 'after the hold'] as const
const sizes = ['whole', 'part'] as const
const closers = ['it', 'another'] as const
const exits = ['draws', 'withdraws'] as const

const rows = channels.flatMap((channel) =>
  payments.flatMap((payment) =>
    times.flatMap((time) =>
      sizes.flatMap((size) =>
        closers.flatMap((closer) => exits.map((exit) => ({ channel, payment, time, size, closer, exit }))),
      ),
    ),
  ),
)
type Row = (typeof rows)[number]

const paidRef = 2
/** Ref of the rest of a payment that was partly refunded before its credit. */
const restRef = 3

/** Returns the amount of the payment. It is 0.01 less than the debt if another payment closes the cycle. */
function amountOf({ payment, closer }: Row): bigint {
  if (payment === 'top-up') return ausd('40')
  if (payment === 'settlement with excess') return ausd('58')
  return closer === 'it' ? ausd('50') : ausd('49.99')
}

async function credit(row: Row, ref: number, amount: bigint, paidAt: bigint) {
  const held = row.channel === 'a held channel'
  if (row.payment === 'top-up') return act('topUp', ref, amount, held)
  return act('repayFor', ref, amount, { held, paidAt })
}

async function payByAnother(row: Row) {
  const { drawn } = await fixture.accountOf('ana')
  if (row.closer === 'another' && drawn > 0n) await act('repay', drawn)
}

async function leave({ exit }: Row) {
  const { available, collateral, drawn, encumbered, ratioBps, defaulted, frozen } = await fixture.accountOf('ana')
  if (frozen) return
  if (exit === 'draws' && available > 0n) return act('draw', available)
  const used = drawn + encumbered
  if (used > 0n && defaulted) return
  const needed = (used * 10_000n + ratioBps - 1n) / ratioBps
  if (collateral > needed) await act('withdraw', collateral - needed)
}

async function refund(row: Row, amount: bigint, refunded: bigint) {
  const revoke = row.payment === 'top-up' ? 'revokeTopUp' : 'revokeRepayment'
  if (row.channel === 'a held channel' && row.time === 'in the hold') {
    const { events } = await act(revoke, paidRef, amount - refunded)
    const undone = events.map((one) =>
      one.eventName === 'RepaymentRevoked' || one.eventName === 'TopUpRevoked' ? one.args.amount : 0n,
    )
    expect(undone.reduce((sum, one) => sum + one, 0n)).toBe(refunded)
    return 0n
  }
  expect(await answer(revoke, paidRef)).toBe('NotHeld')
  await act('setFrozen', true)
  return refunded
}

async function books() {
  const [account, wallet, treasuryHas, collateral, pool, contractHas] = await Promise.all([
    fixture.accountOf('ana'),
    fixture.balanceOf(actors.ana.address),
    fixture.balanceOf(treasury),
    read('totalCollateral'),
    read('poolBalance'),
    fixture.balanceOf(creditLine),
  ])
  return { account, wallet, treasuryHas, collateral, pool, contractHas }
}
type Books = Awaited<ReturnType<typeof books>>

function expectExplained(start: Books, end: Books, credited: bigint) {
  const { account } = end
  expect(start.treasuryHas - end.treasuryHas).toBe(credited)
  expect(end.contractHas).toBe(end.collateral + end.pool)
  // Without yield a unit is a million shares, and only Ana has collateral.
  const pending = account.pendingShares / 1_000_000n
  expect(account.collateral + pending).toBe(end.collateral)
  expect(end.wallet - start.wallet + end.collateral - account.drawn).toBe(credited)
  expect(start.pool - end.pool).toBe(account.drawn)
}

describe.each(payments)('the refund of a %s', (wanted) => {
  const title = (row: Row) =>
    `${row.payment} through ${row.channel}, ${row.size} refunded ${row.time}, cycle closed by ${row.closer}: ana ${row.exit} no more than she paid`
  const table = rows.filter((row) => row.payment === wanted).map((row) => [title(row), row] as const)

  test.each(table)('%s', async (_title, row) => {
    const amount = amountOf(row)
    const refunded = row.size === 'whole' ? amount : ausd('20')
    const start = await books()
    await act('topUp', 1, ausd('100'))
    await act('draw', ausd('50'))
    await fixture.warp(120)

    const paidAt = await now()
    // A payment with an excess closes the cycle, so the other payment comes first.
    if (row.payment === 'settlement with excess') await payByAnother(row)
    let loss = 0n
    if (row.time === 'before the credit') {
      if (refunded < amount) await credit(row, restRef, amount - refunded, paidAt)
      await payByAnother(row)
      await leave(row)
    } else {
      await credit(row, paidRef, amount, paidAt)
      await payByAnother(row)
      await leave(row)
      if (row.time === 'after the hold') {
        const { until: end } = await holdOf(paidRef)
        if (end > 0n) await until(end)
        else await fixture.warp(fixtureTerms.holdSeconds)
        await leave(row)
      }
      loss = await refund(row, amount, refunded)
    }
    const credited = ausd('100') + amount - refunded + loss
    expectExplained(start, await books(), credited)
    await leave(row)
    expectExplained(start, await books(), credited)

    const { holdSeconds, termSeconds, graceSeconds } = fixtureTerms
    await fixture.warp(2 * holdSeconds + termSeconds + graceSeconds + recordingSeconds)
    if ((await fixture.accountOf('ana')).drawn > 0n) await act('markDefault')
    await leave({ ...row, exit: 'withdraws' })
    const end = await books()
    expectExplained(start, end, credited)
    const gained = end.wallet - start.wallet
    expect(end.account.drawn).toBe(0n)
    if (loss === 0n) {
      expect(gained).toBe(ausd('100') + amount - refunded)
    } else {
      expect(gained).toBeLessThanOrEqual(credited)
      expect(await answer('draw', 1n)).not.toBe('accepted')
      expect(await answer('withdraw', 1n)).toBe('AccountFrozen')
    }
  })
})

test('the table of refunds has every combination', () => {
  expect(new Set(rows.map((row) => JSON.stringify(row))).size).toBe(2 * 3 * 3 * 2 * 2 * 2)
})
