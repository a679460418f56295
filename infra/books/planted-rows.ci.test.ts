import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createWalletClient, type Hex, http, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { checkBooks } from '#infra/books/reconcile'
import type { Person } from '#infra/demo/person'
import { laneKeys } from '#infra/local/environment'
import { bid } from '#infra/local/fees'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { placeOf } from '#infra/ops/place'
import { checkRecord } from '#infra/ops/record/record-check'
import { chainOf } from '#shared/chain/client'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { refOf } from '#shared/chain/ref'
import { query } from '#test/support/database'
import { beginPaths, type Orders, pathsCostMicro, pathsEnding } from '#test/support/money-paths'
import { verifiedUser } from '#test/support/people'
import { openCheckout } from '#test/support/requests'
import { operate, ownStack } from '#test/support/stack'
import { servesTruth } from '#test/support/verify'
import { becomes } from '#test/support/wait'

let stack: Stack
let person: Person
let orders: Orders

beforeAll(async () => {
  stack = await ownStack()
  person = await verifiedUser(stack, { ausdMicro: pathsCostMicro, wei: 10n ** 19n })
  orders = await beginPaths(stack, person)
  await pathsEnding(person, orders)
  await person.draw(1_000_000n)
  await openCheckout(person, { pair: 'USD/MYR', amount: '1000', method: 'bank' })
})
afterAll(() => stack?.[Symbol.asyncDispose]())

const record = () => operate(stack, 'record/record-check.ts', person.wallet)
const books = () => operate(stack, 'main.ts', 'reconcile')
const hasty = { checksMax: 2, betweenMs: 50 }
const check = () => checkBooks(placeOf(stack.info), stack.adminUrl, hasty)
const changed = (text: string) => query(stack, text)

describe('a system without faults', () => {
  test('the books balance if nothing was changed', async () => {
    const balanced = await waitUntil('the books balancing', async () => {
      const found = await books()
      return found.said.endsWith('the books balance') && found
    })
    expect(balanced).toMatchObject({ code: 0, complaint: '' })
  })

  test('the public record matches the chain if nothing was changed', async () => {
    await servesTruth(stack, person.wallet)
    const said = 'the record matches the chain'
    await becomes(record, { code: 0, said, complaint: '' })
  })
})

describe('the check finds a wrong row:', () => {
  const payment = () => `payments.payments where id = '${orders.topup.paymentId}'`
  const payout = () => `payouts.payouts where id = '${orders.cashout.payoutId}'`
  const set = (row: string, change: string) => row.replace(' where', () => ` set ${change} where`)

  test.each<[string, () => string, string, string, RegExp]>([
    [
      'an amount',
      payment,
      'ausd_micro = ausd_micro + 1',
      'ausd_micro = ausd_micro - 1',
      /clawback: row -1, journal 0/,
    ],
    [
      'a hold',
      payment,
      'held = true',
      'held = false',
      /held true; the chain has a credit .*, held f/,
    ],
    [
      'a credit that did not happen',
      payment,
      "state = 'expired'",
      "state = 'credited'",
      /topup, expired, treasury: row 0, .* chain -3076923/,
    ],
    [
      'the amount paid',
      payment,
      'paid_minor = paid_minor + 7',
      'paid_minor = paid_minor - 7',
      /row 50007, .* provider 50000/,
    ],
    [
      'a returned payout marked as paid',
      payout,
      "state = 'paid'",
      "state = 'returned'",
      // Two rules name it, in either order.
      /^(?=[\s\S]*paid: row -\d+, .* provider 0)(?=[\s\S]*1 takes and 1 returns)/,
    ],
    [
      'the nonce of an authorization',
      payout,
      "authorization_nonce = '0x00'",
      'authorization_nonce = lower("authorization"->>\'nonce\')',
      /1 takes and 1 returns, 1 of them not as signed/,
    ],
  ])('%s', async (_, row, wrong, right, words) => {
    await changed(`update ${set(row(), wrong)}`)
    const found = await check()
    await changed(`update ${set(row(), right)}`)
    expect(found.join('\n')).toMatch(words)
    expect(await check()).toEqual([])
  })

  test('a wrong public record', async () => {
    const where = `where wallet = '${person.wallet}'`
    await changed(`update indexer_reader.records set repay_count = repay_count + 1 ${where}`)
    const found = () => checkRecord(placeOf(stack.info), person.wallet, hasty)
    await becomes(found, ['history.repayCount: the chain has 0, /verify 1'])
    await changed(`update indexer_reader.records set repay_count = repay_count - 1 ${where}`)
  })
})

test('the check finds a credit that a relayer key sent outside the service', async () => {
  const { rpcUrl, chainId, creditLine } = stack.info.chain
  const client = createWalletClient({
    account: privateKeyToAccount(laneKeys[1]!),
    chain: chainOf(chainId),
    transport: http(rpcUrl),
  }).extend(publicActions)
  const ref = refOf('ordered by no service')
  const hash = await client.writeContract({
    address: creditLine as Hex,
    abi: creditLineAbi,
    functionName: 'topUp',
    args: [ref, person.account.address, 7_000_000n, false],
    gas: 400_000n,
    ...(await bid(client)),
  })
  await waitUntil('its finality', async () => {
    const receipt = await client.getTransactionReceipt({ hash }).catch(() => undefined)
    const head = await client.getBlock({ blockTag: 'finalized' })
    return receipt && head.number! >= receipt.blockNumber
  })
  const words = `a credit of 7000000 for ${person.wallet} in ${hash} under ref ${ref} belongs to no payment`
  await waitUntil('it being found', async () => (await books()).said.includes(words))
  // It may have been read before what names it: it counts when it is found again.
  await waitUntil('an exit code of 1', async () => (await books()).code === 1)
})
