import { afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import type { Person, Reply } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { groupStack } from '../runner/group'
import { topUp } from '../support/flows'
import { ausdOf } from '../support/ledger'
import { verifiedUser } from '../support/people'
import { cashoutBody, entryIn, openCheckout } from '../support/requests'
import { becomes } from '../support/wait'
import { codeOf, endsEven, happens, openBooks, payCode, recorded, tries, withdrawCollateral } from './fixture'

const listedLate = { api: { listDelayMs: 3_000 } }
const reversals = [
  ['has a QRIS payment refunded, and the webhook is lost', 'QRIS', 'refund', {}],
  ['has a card payment refunded, and the webhook is lost', 'CARDS', 'refund', {}],
  ['has it refunded, and the list shows it later than it happened', 'QRIS', 'refund', listedLate],
  ['charges a card payment back, without a webhook', 'CARDS', 'chargeback', {}],
] as const

let stack: Stack
let outside: ExternalControls
/** Users by test title, whose holds end together. */
const users = new Map<string, ReturnType<typeof credited>>()
let owner: ReturnType<typeof credited>
let debtor: ReturnType<typeof credited>

beforeAll(async () => {
  stack = groupStack()
  outside = outsideOf(stack.info)
  for (const [title, channel] of reversals) users.set(title, credited(channel))
  owner = credited('CARDS', { ausdMicro: 20_000_000n, amount: '520000' })
  debtor = credited('CARDS')
  await Promise.all([...users.values(), owner, debtor])
})
afterEach(() => outside.control('faults', {}))

async function credited(channel: string, has: { ausdMicro?: bigint; amount?: string } = {}) {
  const person = await verifiedUser(stack, { ausdMicro: has.ausdMicro ?? 0n, wei: 10n ** 19n })
  const { id: paymentId } = await topUp(stack, person, { channel, amount: has.amount ?? '50000' })
  await entryIn(person, paymentId, 'credited')
  return { person, paymentId }
}

const withdraw = (person: Person, micro: bigint) => tries(withdrawCollateral(stack, person, micro))
const isFrozen = (person: Person) => async () => (await person.me()).frozen

describe('a user', () => {
  test.each(reversals)('%s: the wallet is frozen, and its withdrawal reverts', async (title, _, reversal, faults) => {
    const { person, paymentId } = await users.get(title)!
    await outside.faults({ webhooks: { drop: 1 }, ...faults })
    await outside.control(`payments/${paymentId}/${reversal}`)
    const frozen = await happens(person.until('the freeze', (me) => me.frozen))
    const withdrew = await withdraw(person, 3_000_000n)
    const ausdMicro = await ausdOf(stack, person.account.address)
    expect({ frozen, withdrew, ausdMicro }).toEqual({
      frozen: true,
      withdrew: 'reverted',
      ausdMicro: 0n,
    })
  })

  test.each([
    ['has the second of two payments refunded', paidTwice],
    ['has a payment refunded that was too short to be credited', paidShort],
  ])('%s: it was never credited, so no wallet is frozen', async (_, begin) => {
    const { person, payment } = await begin()
    const since = Date.now()
    await outside.refund(payment)
    await recorded(stack, 'refund.succeeded', since)
    // A later refund has frozen another wallet, so the refund of this one was handled too.
    const other = await credited('QRIS')
    await outside.refund(other.paymentId)
    await becomes(isFrozen(other.person), true)
    const answers = { frozen: await isFrozen(person)(), drew: await tries(person.draw(1_000_000n)) }
    expect(answers).toEqual({ frozen: false, drew: 'done' })
  })
})

/** Returns a checkout with two payments: the code of the first channel can still be paid after another was chosen. */
async function paidTwice() {
  const { person } = await credited('QRIS')
  const { paymentId } = await openCheckout(person)
  const code = await codeOf(stack, paymentId, 'BCA_VIRTUAL_ACCOUNT')
  await outside.pay(paymentId, 'QRIS')
  await entryIn(person, paymentId, 'credited')
  await payCode(stack, code)
  await entryIn(person, paymentId, 'review')
  const { payments } = await outside.book()
  const second = payments!.find((one) => one.payment_request_id === code)
  return { person, payment: second.payment_id as string }
}

async function paidShort() {
  const { person } = await credited('QRIS')
  const { paymentId } = await openCheckout(person)
  const short = { channel_code: 'QRIS', amount: 40_000, force: true }
  await outside.control(`sessions/${paymentId}/pay`, short)
  await entryIn(person, paymentId, 'review')
  return { person, payment: paymentId }
}

describe('a user whose card payment was refunded after its hold', () => {
  test('tries every way to move money out, and may only pay', async () => {
    const { person, paymentId } = await owner
    await person.draw(1_000_000n)
    await outside.refund(paymentId)
    const frozen = await happens(person.until('the freeze', (me) => me.frozen))

    const topup = async (method: string) =>
      person.insist('/topups', {
        amount: '50000',
        method,
        quoteId: (await person.quote('USD/IDR')).id,
      })
    const friend = privateKeyToAddress(generatePrivateKey())
    const authorization = await person.sign({ to: friend, valueMicro: 2_000_000n })
    const settlement = { quoteId: (await person.quote('USD/IDR')).id }
    const said = ({ status, headers }: Reply) => [status, headers.get('x-error-code')]
    expect({
      frozen,
      card: said(await topup('card')),
      cashout: said(await person.insist('/cashouts', await cashoutBody(stack, person))),
      send: said(await person.insist('/sends', { authorization })),
      draw: await tries(person.draw(1_000_000n)),
      withdrawal: await withdraw(person, 1_000_000n),
      qr: said(await topup('qr')),
      settlement: said(await person.insist('/settlements', settlement)),
    }).toEqual({
      frozen: true,
      card: [403, 'wallet_frozen'],
      cashout: [403, 'wallet_frozen'],
      send: [403, 'wallet_frozen'],
      draw: 'reverted',
      withdrawal: 'reverted',
      // Ways to pay in stay open, so that the loss can be repaid.
      qr: [200, null],
      settlement: [200, null],
    })
    expect(await ausdOf(stack, person.account.address)).toBe(21_000_000n)
  })

  test('repays the loss with two payments and is credited the rest, to the unit', async () => {
    const { person, paymentId } = await debtor
    const books = await openBooks(stack, person)
    await outside.refund(paymentId)
    const frozen = await happens(person.until('the freeze', (me) => me.frozen))
    const collateralOf = async () => (await person.me()).collateral.value

    // Rp 25,000 are 1.538461 of the missing 3.076923 AUSD, so none of it is credited.
    const part = await topUp(stack, person, { amount: '25000' })
    await waitUntil('the first part', async () => {
      const { inFlight } = (await person.get('/me/activity')).body
      return !inFlight.some((entry: { id: string }) => entry.id === part.id)
    })
    const after = { frozen: await isFrozen(person)(), value: await collateralOf() }

    await topUp(stack, person)
    expect({ frozen, after }).toEqual({ frozen: true, after: { frozen: true, value: '3076923' } })
    const ending = async () => ({ frozen: await isFrozen(person)(), value: await collateralOf() })
    await endsEven(books, ending, { frozen: false, value: '4615384' })
    expect(await tries(person.draw(1_000_000n))).toBe('done')
  })
})
