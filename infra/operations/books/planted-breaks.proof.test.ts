import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createWalletClient, type Hex, http, publicActions } from 'viem'
import { type LocalAccount, privateKeyToAccount } from 'viem/accounts'
import { outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import { play } from '#infra/demo/play'
import { feeBid } from '#infra/local/fee-bid'
import { devKey } from '#infra/local/keys'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { readSheet } from '#infra/operations/books/balance-sheet'
import { checkBooks, openBooksOf } from '#infra/operations/books/reconcile'
import { sheetText } from '#infra/operations/cli/books'
import { placeOf } from '#infra/operations/place'
import { urlInRole } from '#platform/db/url'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { chainOf } from '#shared/chain/client'
import { query } from '#test/support/database'
import { creditedTopUp } from '#test/support/flows'
import { fund, verifiedUser } from '#test/support/people'
import { entryIn, openCheckout } from '#test/support/requests'
import { quickChecks } from '#test/support/settings'
import { operate, ownStack } from '#test/support/stack'
import { scrape, valueIn } from '#test/support/telemetry/metrics'

let stack: Stack
let person: Person
beforeAll(async () => {
  const env = { ...quickChecks, operations: { BOOKS_EVERY_MS: '3000' } }
  stack = await ownStack({ operations: true, env })
})
afterAll(() => stack?.[Symbol.asyncDispose]())

const once = { checksMax: 1, betweenMs: 0 }
const check = () => checkBooks(placeOf(stack.info), stack.adminUrl, once)

const named = (words: RegExp) =>
  waitUntil(`${words}`, async () => {
    const found = (await check()).join('\n')
    return words.test(found) && found
  })
const agrees = (words: RegExp) => waitUntil(`no ${words}`, async () => !words.test((await check()).join('\n')))

const command = (...words: string[]) => operate(stack, ...words)

test('the books balance after the whole demo', async () => {
  await play(stack.info)
  expect(await checkBooks(placeOf(stack.info), stack.adminUrl)).toEqual([])
  await using books = await openBooksOf(placeOf(stack.info), urlInRole(stack.adminUrl, 'books'))
  const sheet = await waitUntil('the books being closed', async () => {
    const now = await readSheet(books.sql)
    return now.closed && now
  })
  console.log(sheetText(sheet))
  const balances = (name: string) => sheet.lines.filter(({ account }) => account === name).map(({ balance }) => balance)
  expect(sheet.lines.find(({ account }) => account === 'treasury')).toMatchObject({
    outside: balances('treasury')[0]!,
  })
  expect(balances('promises')).toEqual([])
  const { code, said } = await command('books')
  expect({ code, end: said.split('\n').at(-1) }).toEqual({
    code: 0,
    end: 'the books are closed: nothing in progress, no breaks',
  })
})

describe('the next reconciliation reports, and closes after the repair:', () => {
  let paid: string
  beforeAll(async () => {
    person = await verifiedUser(stack, { ausdMicro: 100_000_000n, wei: 10n ** 19n })
    paid = (await creditedTopUp(stack, person)).id
    expect(await checkBooks(placeOf(stack.info), stack.adminUrl)).toEqual([])
  })

  test.each([
    ['state', "state = 'expired'", "state = 'credited'", 'payment_chain \\S+ -3076923 AUSD'],
    ['sum', 'paid_minor = 50007', 'paid_minor = 50000', 'payment_provider \\S+ -7 IDR'],
    ['wallet', "wallet = '0x01'", 'wallet = $wallet', 'effect_fits \\S+ 3076923 AUSD'],
  ])(
    'the next reconciliation reports and, after the repair, closes a row whose %s was changed by hand',
    async (_, wrong, right, words) => {
      const change = (set: string) =>
        query(
          stack,
          `update payments.payments set ${set.replace('$wallet', `'${person.wallet}'`)} where id = '${paid}'`,
        )
      await change(wrong)
      const found = await named(new RegExp(words))
      await change(right)
      expect(found).toContain(paid)
      expect(await checkBooks(placeOf(stack.info), stack.adminUrl)).toEqual([])
    },
  )

  test('the next reconciliation reports and, after the repair, closes a posting by hand, with an alarm of the job', async () => {
    const post = (name: string, sign: string) =>
      query(
        stack,
        `insert into payments.journal (posting, line, event, item, account, asset, amount)
          values ('${name}', 0, 'by hand', '${paid}', 'treasury', 'AUSD', ${sign}5),
            ('${name}', 1, 'by hand', '${paid}', 'exchange', 'AUSD', -(${sign}5))`,
      )
    await post('by hand', '')
    await named(new RegExp(`row_journal ${paid} 5 AUSD`))
    const log = () => readFileSync(join(stack.dir, 'logs/operations.log'), 'utf8')
    await waitUntil('an alarm', () => /"rule":"row_journal".*"alarm":true/.test(log()))
    const shown = async () => valueIn(await scrape(stack), 'ausd_books_breaks', { standing: 'beyond_grace' })
    await waitUntil('the figures', async () => (await shown()) === 1)
    await post('reversed', '-')
    expect(await checkBooks(placeOf(stack.info), stack.adminUrl)).toEqual([])
  })

  test('the next reconciliation reports and, after the repair, closes a payment and a refund in the dashboard, without webhooks', async () => {
    const { paymentId } = await openCheckout(person)
    await stack.process('payments').stop('SIGTERM')
    await outsideOf(stack.info).pay(paymentId, 'QRIS')
    await outsideOf(stack.info).refund(paid)
    const found = await named(new RegExp(`payment_provider ${paymentId} 50000 IDR`))
    expect(found).toMatch(new RegExp(`payment_provider ${paid} -50000 IDR`))
    stack.process('payments').start()
    await entryIn(person, paymentId, 'credited')
    await agrees(/payment_provider/)
  })

  test('the next reconciliation reports and, after the repair, closes a payout by hand at the provider', async () => {
    const { sandbox, provider } = stack.info
    const answer = await fetch(`${sandbox}/v2/payouts`, {
      method: 'POST',
      headers: {
        Authorization: `Basic ${btoa(`${provider.ID.secretKey}:`)}`,
        'Content-Type': 'application/json',
        'Idempotency-key': 'by hand',
      },
      body: JSON.stringify({
        reference_id: 'by hand',
        channel_code: 'ID_BCA',
        amount: 70_000,
        currency: 'IDR',
        channel_properties: { account_number: '1234567890', account_holder_name: 'Nobody' },
      }),
    })
    expect(answer.status).toBe(200)
    const { id } = (await answer.json()) as { id: string }
    // payouts may have booked the money in suspense by then.
    await named(/(provider_unknown txn_|suspense disb-)\S+ -?70000 IDR: /)
    await waitUntil('the bank', () =>
      outsideOf(stack.info)
        .control(`payouts/${id}/reverse`)
        .then(
          () => true,
          () => false,
        ),
    )
    await agrees(/provider_unknown|suspense/)
  })

  test('the next reconciliation reports and, after the repair, closes a transfer to the treasury and one from it, which an operator explains', async () => {
    const treasury = stack.info.chain.treasury as Hex
    const key = privateKeyToAccount(devKey('treasury'))
    await fund(stack, key.address, { wei: 10n ** 19n })
    const came = await transfer(person.account, treasury, 7n)
    const left = await transfer(key, person.account.address, 5n)
    await named(new RegExp(`treasury_moved ${left}:\\d+ -5 AUSD`))
    await named(new RegExp(`(treasury_moved|suspense) ${came}:\\d+ -?7 AUSD`))
    const rows = await query<{ id: string; item: string }>(
      stack,
      "select id::text, item from books.breaks where closed_at is null and rule in ('treasury_moved', 'suspense')",
    )
    expect(rows.length).toBeGreaterThanOrEqual(2)
    for (const { id } of rows) {
      const words = ['--owner', 'Ana', '--reason', 'ticket 7', '--until', '2099-01-01']
      expect(await command('reconcile', 'explain', id, ...words)).toMatchObject({ code: 0 })
    }
    const { said } = await command('reconcile')
    expect(said).toMatch(/muted until 2098-12-31T17:00[\s\S]*Ana: ticket 7/)
    expect((await command('reconcile', '--csv')).said).toContain(',Ana,ticket 7,2098-12-31T17:00')
    const shown = await command('books')
    expect(shown.said).toContain('the books are open')
  })
})

async function transfer(account: LocalAccount, to: Hex, micro: bigint): Promise<Hex> {
  const { rpcUrl, chainId, ausd } = stack.info.chain
  const transport = http(rpcUrl)
  const client = createWalletClient({ account, chain: chainOf(chainId), transport }).extend(publicActions)
  return client.writeContract({
    address: ausd as Hex,
    abi: ausdAbi,
    functionName: 'transfer',
    args: [to, micro],
    gas: 120_000n,
    ...(await feeBid(client)),
  })
}
