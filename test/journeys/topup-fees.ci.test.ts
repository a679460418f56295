import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { okOf } from '#shared/client/client'
import { dayName } from '#shared/money/day'
import { booksClose } from '../support/books'
import { creditsOf } from '../support/ledger'
import { verifiedUser } from '../support/people'
import { entryIn, entryNow, openCheckout } from '../support/requests'
import { operate, ownStack } from '../support/stack'

let stack: Stack
let outside: ExternalControls
let person: Person
beforeAll(async () => {
  // Every kind of channel in Indonesia has a fee, whose checkout has the most metadata.
  const others = 'IDR:ewallet=0+167,IDR:counter=5550+0,IDR:paylater=0+222,IDR:direct_debit=0+211'
  const pricing = { TOPUP_FEES: `IDR:bank=4440+0,IDR:qr=0+70,IDR:card=2220+322,${others},MYR:bank=120+0` }
  stack = await ownStack({ env: { pricing }, terms: { holdSeconds: 30, minCycleSeconds: 0 } })
  outside = outsideOf(stack.info)
  person = await verifiedUser(stack)
})
afterAll(() => stack?.[Symbol.asyncDispose]())

const fees = [
  { channel: 'bank', fixed: '4440', bps: 0 },
  { channel: 'qr', fixed: '0', bps: 70 },
  { channel: 'card', fixed: '2220', bps: 322 },
  { channel: 'ewallet', fixed: '0', bps: 167 },
  { channel: 'counter', fixed: '5550', bps: 0 },
  { channel: 'paylater', fixed: '0', bps: 222 },
  { channel: 'direct_debit', fixed: '0', bps: 211 },
] as const

test('quote and configuration name the fees of top-ups before anything is ordered', async () => {
  const quote = okOf(await person.api.quote('USD/IDR'))
  expect(quote.topupFees).toEqual([...fees])
  expect(okOf(await person.api.quote('USD/MYR')).topupFees).toEqual([{ channel: 'bank', fixed: '120', bps: 0 }])
  const { quote: terms } = okOf(await person.api.config())
  expect(terms.topupFees).toEqual([
    ...fees.map((fee) => ({ pair: 'USD/IDR' as const, ...fee })),
    { pair: 'USD/MYR', channel: 'bank', fixed: '120', bps: 0 },
  ])
})

test('top-ups by QR, bank and card are credited less the fee of the channel, and refunds take back just that', async () => {
  const { rate } = okOf(await person.api.quote('USD/IDR'))
  const worth = (minor: bigint) => (minor * 1_000_000n) / BigInt(rate)
  const pay = async (channel: string, amount = '100000') => {
    const checkout = await openCheckout(person, { amount })
    expect(checkout).toMatchObject({ fiat: amount, ausd: `${worth(BigInt(amount))}` })
    await outside.pay(checkout.paymentId, channel)
    return checkout.paymentId
  }
  const qr = await pay('QRIS')
  const item = await entryIn(person, qr, 'credited')
  expect(item).toMatchObject({ fiat: '100000', fee: '700', ausd: `${worth(99_300n)}`, channel: 'qr' })
  expect(await creditsOf(stack, qr)).toMatchObject([{ ausdMicro: worth(99_300n), held: false }])

  const bank = await pay('BCA_VIRTUAL_ACCOUNT', '10000')
  expect(await entryIn(person, bank, 'credited')).toMatchObject({ fee: '4440', ausd: `${worth(5_560n)}` })

  const part = await pay('CARDS')
  const card = worth(94_560n)
  expect(await entryIn(person, part, 'held')).toMatchObject({ fee: '5440', ausd: `${card}` })
  await outside.control(`payments/${part}/refund`, { amount: 25_000 })
  await waitUntil('the revocation of a quarter', async () => {
    const entry = await entryNow(person, part, 'held')
    return entry?.reason === 'refunded_in_part'
  })
  const left = (card * 75_000n) / 100_000n
  const whole = await pay('CARDS')
  await entryIn(person, whole, 'held')
  await outside.refund(whole)
  await entryIn(person, whole, 'revoked')
  const ringgit = await openCheckout(person, { pair: 'USD/MYR', amount: '1000' })
  await outside.pay(ringgit.paymentId, 'DUITNOW_PAY')
  const byDuitNow = await entryIn(person, ringgit.paymentId, 'credited')
  expect(byDuitNow).toMatchObject({ fiat: '1000', fee: '120', channel: 'bank' })
  const free = worth(99_300n) + worth(5_560n) + left + BigInt(byDuitNow.ausd)
  const me = await person.until('the end of the hold', (seen) => BigInt(seen.collateral.value) === free && seen)
  expect(me.collateral.pendingShares).toBe('0')

  const receipt = okOf(await person.api.receipt(qr))
  expect(receipt).toMatch(/Fee<\/th><td>Rp\s?700</)
  expect(okOf(await person.api.receipt(whole))).not.toContain('Fee</th>')
  const lines = await waitUntil('a statement with the revocation', async () => {
    const { items } = okOf(await person.api.statement({}))
    return items.some(({ id, kind }) => id === whole && kind === 'topup_revoked') && items
  })
  // Money that is back, all of it or a part, has no fee in the line that takes the collateral back.
  const linesOf = (id: string) => lines.filter((one) => one.id === id).map(({ kind, fiat, fee }) => [kind, fiat, fee])
  expect(linesOf(qr)).toEqual([['collateral_added', '100000', '700']])
  expect(linesOf(bank)).toEqual([['collateral_added', '10000', '4440']])
  expect(linesOf(part)).toEqual([
    ['collateral_added', '100000', '5440'],
    ['topup_revoked', '100000', undefined],
  ])
  expect(linesOf(whole)).toEqual([
    ['collateral_added', '100000', undefined],
    ['topup_revoked', '100000', undefined],
  ])
  const traced = await operate(stack, 'trace', part)
  expect(traced.said).toContain('Rp 5,440')

  await booksClose(stack)
  const sheet = await operate(stack, 'books')
  // Rp 700, Rp 4,440, and three quarters of Rp 5,440; the fee of the refunded card went back.
  expect(sheet.said).toContain('IDR  earned 0 and 9,220 of fees')
  const day = dayName('USD/IDR', Date.now())
  const report = JSON.parse((await operate(stack, 'report', '--day', day, '--json')).said)
  const earned = report.accounts.find(
    (one: Record<string, string>) => one.account === 'fees_earned' && one.asset === 'IDR',
  )
  expect(BigInt(earned.credits) - BigInt(earned.debits)).toBe(9_220n)
  expect(sheet.said).toContain('MYR  earned 0.00 and 1.20 of fees')
  const words = ['persons', 'exchanges', person.wallet, '--year', day.slice(0, 4), '--json']
  const { exchanges } = JSON.parse((await operate(stack, ...words)).said)
  const sumOf = (currency: string) =>
    exchanges
      .filter((one: Record<string, string>) => one.currency === currency)
      .reduce((sum: number, one: Record<string, string>) => sum + Number(one.topup_fee), 0)
  expect([sumOf('IDR'), sumOf('MYR')]).toEqual([9_220, 1.2])
})
