import { outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { serviceNames } from '#shared/messages/topic'
import { query } from '../support/database'
import { borrower, cashOut, openSettlement } from '../support/flows'
import { ausdOf } from '../support/ledger'
import { newUser, verifiedUser } from '../support/people'
import { type Checkout, entryIn, insist, openCheckout, refusedAccount } from '../support/requests'

const wealth = { ausdMicro: 60_000_000n }
const topup = (person: Person, method: 'qr' | 'card'): Promise<Checkout> =>
  openCheckout(person, { amount: '50000', method })

async function debtor(stack: Stack): Promise<Person> {
  const person = await borrower(stack, wealth, '50000')
  await person.draw(1_000_000n)
  return person
}

const isThere = async (stack: Stack, text: string) => (await query(stack, text)).length > 0

/** Prepares the state of the backup. */
export async function before(stack: Stack) {
  const outside = outsideOf(stack.info)
  const ana = await debtor(stack)
  const citra = await debtor(stack)
  const eka = await verifiedUser(stack, wealth)
  const budi = await newUser(stack)
  await insist(budi, '/me/verification', {})
  const open = await topup(ana, 'qr')
  const card = await topup(ana, 'card')
  const regretted = await topup(eka, 'card')
  const settlement = await openSettlement(ana)
  const { id: settled } = await cashOut(stack, eka)
  await entryIn(eka, settled, 'paid')
  // The provider only fails, so the cash-out stays `paying`.
  await outside.faults({ api: { errorRate: 1 } })
  const { id: paying } = await cashOut(stack, eka)
  const isPaying = `select 1 from payouts.payouts where id = '${paying}' and state = 'paying'`
  await waitUntil('an attempt to pay', () => isThere(stack, isPaying))
  // Nodes lose the signed transaction, so the cash-out stays `taking`.
  stack.rpcProxy!.setFaults({ swallowSendRate: 1 })
  const { id: taking } = await cashOut(stack, eka)
  const isSigned = `select 1 from chain_relayer.operation where cause = '${taking}' and state = 'assigned'`
  await waitUntil('a signed transaction', () => isThere(stack, isSigned))
  return { ana, citra, budi, eka, open, card, regretted, settlement, settled, paying, taking }
}
export type Before = Awaited<ReturnType<typeof before>>

/**
 * Plays the lost hour. Items in progress continue and new ones of each kind start; at its end some are in progress
 * again.
 */
export async function lostHour(stack: Stack, { ana, citra, budi, eka, ...was }: Before) {
  const outside = outsideOf(stack.info)
  await outside.calm()
  stack.rpcProxy!.setFaults({}) // The transaction stays lost, so another attempt is signed.
  await outside.pay(was.open.paymentId, 'QRIS')
  await outside.pay(was.card.paymentId, 'CARDS')
  await regret(stack, eka, was.regretted)
  const regretted = await topup(eka, 'card')
  await regret(stack, eka, regretted)
  await outside.pay(was.settlement.paymentId, 'BCA_VIRTUAL_ACCOUNT')
  await outside.identity(budi.wallet, 'approved')
  const dewi = await newUser(stack, { wei: 0n })
  await insist(dewi, '/me/verification', {})
  await outside.identity(dewi.wallet, 'approved')
  const late = await topup(citra, 'qr')
  const card = await topup(citra, 'card')
  const settlement = await openSettlement(citra)
  await outside.pay(late.paymentId, 'QRIS')
  await outside.pay(card.paymentId, 'CARDS')
  await outside.pay(settlement.paymentId, 'BCA_VIRTUAL_ACCOUNT')
  const { id: paid } = await cashOut(stack, eka)
  const { id: returned } = await cashOut(stack, eka, { accountNumber: refusedAccount })
  const authorization = await eka.sign({ to: dewi.wallet, valueMicro: 1_500_000n })
  const { sendId } = (await eka.insist('/sends', { authorization })).body
  await entryIn(ana, was.open.paymentId, 'credited')
  await entryIn(ana, was.card.paymentId, 'credited')
  await entryIn(ana, was.settlement.paymentId, 'repaid')
  await entryIn(citra, late.paymentId, 'credited')
  await entryIn(citra, card.paymentId, 'credited')
  await entryIn(citra, settlement.paymentId, 'repaid')
  await entryIn(eka, was.paying, 'paid')
  await entryIn(eka, was.taking, 'paid')
  await entryIn(eka, paid, 'paid')
  await entryIn(eka, returned, 'returned')
  await entryIn(eka, sendId, 'sent')
  for (const person of [budi, dewi]) await person.until('native coin', (me) => me.verified && me.balance.native !== '0')
  return {
    dewi,
    late,
    card,
    settlement,
    regretted,
    paid,
    returned,
    sendId,
    ...(await inTheMiddle(stack, citra, eka)),
  }
}
export type LostHour = Awaited<ReturnType<typeof lostHour>>

/** Refunds a payment within its hold, so that credit and revocation are on the chain. */
async function regret(stack: Stack, person: Person, { paymentId }: Checkout): Promise<void> {
  await outsideOf(stack.info).pay(paymentId, 'CARDS')
  await entryIn(person, paymentId, 'held')
  await outsideOf(stack.info).refund(paymentId)
  await entryIn(person, paymentId, 'revoked')
}

async function inTheMiddle(stack: Stack, citra: Person, eka: Person) {
  const unpaid = await topup(citra, 'qr')
  const heldMicro = await ausdOf(stack, eka.account.address)
  const { id: middle } = await cashOut(stack, eka)
  const isOrdered = `select 1 from chain_relayer.operation where cause = '${middle}'`
  await waitUntil('the order of its take', () => isThere(stack, isOrdered))
  await stack.process('payouts').stop('SIGKILL') // The service is stopped before the take is final.
  await waitUntil('its take', async () => (await ausdOf(stack, eka.account.address)) < heldMicro)
  const uncredited = await topup(citra, 'qr')
  stack.rpcProxy!.setFaults({ swallowSendRate: 1 })
  await outsideOf(stack.info).pay(uncredited.paymentId, 'QRIS')
  const isSigned = `select 1 from chain_relayer.operation where cause = '${uncredited.paymentId}' and state = 'assigned'`
  await waitUntil('its credit being sent', () => isThere(stack, isSigned))
  return { unpaid, uncredited, middle }
}

export const stopServices = (stack: Stack) =>
  Promise.all(serviceNames.map((name) => stack.process(name).stop('SIGTERM')))

export async function startServices(stack: Stack): Promise<void> {
  stack.rpcProxy!.setFaults({})
  for (const name of serviceNames) stack.process(name).start()
  const isReady = async () => (await fetch(`${stack.info.ops.gateway}/ready`)).ok
  await waitUntil('every service being ready', isReady)
}
