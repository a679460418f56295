import { beforeAll, describe, expect, test } from 'bun:test'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { checkBooks } from '#infra/operations/books/reconcile'
import { placeOf } from '#infra/operations/place'
import { checkRecord } from '#infra/operations/record/verify-record'
import { groupStack } from '#test/runner/group'
import { query } from '#test/support/database'
import { beginPaths, type Flow, flowsEnding, pathsCostMicro } from '#test/support/flows'
import { verifiedUser } from '#test/support/people'
import { openCheckout } from '#test/support/requests'
import { operate, operateAsProcess } from '#test/support/stack'
import { servesTruth } from '#test/support/verify'
import { becomes } from '#test/support/wait'

let stack: Stack
let person: Person
let topup: Flow
let cashout: Flow

beforeAll(async () => {
  stack = groupStack()
  person = await verifiedUser(stack, { ausdMicro: pathsCostMicro, wei: 10n ** 19n })
  const flows = await beginPaths(stack, person)
  await flowsEnding(flows)
  ;[topup, cashout] = flows
  await untilListIsRead()
  await person.draw(1_000_000n)
  await openCheckout(person, { pair: 'USD/MYR', amount: '1000', method: 'bank' })
})

/**
 * Waits until the provider's list is read. A row of the list that is received while another row is wrong would be
 * judged by the wrong one, permanently.
 */
async function untilListIsRead() {
  const [{ now }] = (await query(stack, 'select now()::text as now')) as [{ now: string }]
  const read = `select 1 from payouts.listings where "window" = 'recent' and read_at > '${now}'`
  await waitUntil('the list being read', async () => (await query(stack, read)).length > 0)
}

const record = async () => {
  const compare = ['--compare', stack.info.gateway]
  const { said, ...end } = await operateAsProcess(stack, 'record/verify-record.ts', person.wallet, ...compare)
  return { ...end, said: said.split('\n').at(-1) }
}
const books = () => operate(stack, 'reconcile')
const hasty = { checksMax: 2, betweenMs: 50 }
const check = () => checkBooks(placeOf(stack.info), stack.adminUrl, hasty)
const changed = (text: string) => query(stack, text)

describe('a system without faults', () => {
  test('the books balance if nothing was changed', async () => {
    const balanced = await waitUntil('the books balancing', async () => {
      const found = await books()
      if (!found.said.endsWith('the books balance')) throw new Error(found.said)
      return found
    })
    expect(balanced).toMatchObject({ code: 0, complaint: '' })
  })

  test('the public record matches the chain if nothing was changed', async () => {
    await servesTruth(stack, person.wallet)
    const said = 'the record is complete and equal'
    await becomes(record, { code: 0, said, complaint: '' })
  })
})

describe('the check finds a wrong row:', () => {
  const payment = () => `payments.payments where id = '${topup.id}'`
  const payout = () => `payouts.payouts where id = '${cashout.id}'`
  const set = (row: string, change: string) => row.replace(' where', () => ` set ${change} where`)

  test.each<[string, () => string, string, string, RegExp]>([
    ['an amount', payment, 'ausd_micro = ausd_micro + 1', 'ausd_micro = ausd_micro - 1', /clawback: row -1, journal 0/],
    ['a fee', payment, 'fee_minor = fee_minor + 1', 'fee_minor = fee_minor - 1', /fees_earned: row -1, journal 0/],
    [
      'the nonce of an authorization',
      payout,
      "authorization_nonce = '0x00'",
      'authorization_nonce = lower("authorization"->>\'nonce\')',
      /1 takes and 1 returns, 1 of them not as signed/,
    ],
  ])('the check finds %s', async (_, row, wrong, right, words) => {
    await changed(`update ${set(row(), wrong)}`)
    const found = await check()
    await changed(`update ${set(row(), right)}`)
    expect(found.join('\n')).toMatch(words)
    // payouts may have booked what the wrong row did not explain, until it reads its list again.
    await becomes(check, [])
  })

  test('the check finds a wrong public record', async () => {
    const where = `where wallet = '${person.wallet}'`
    await changed(`update indexer_reader.records set repay_count = repay_count + 1 ${where}`)
    const found = () => checkRecord(placeOf(stack.info), person.wallet, hasty)
    await becomes(found, ['history.repayCount: the chain has 0, /verify 1'])
    await changed(`update indexer_reader.records set repay_count = repay_count - 1 ${where}`)
  })
})
