import { expect } from 'bun:test'
import type { Address } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { outsideOf } from '#infra/demo/external'
import type { Person, Reply } from '#infra/demo/person'
import type { RunningStack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { openRandom } from '#infra/sandbox/random'
import { query } from './database'
import { creditsOf, transfersOf } from './ledger'
import { type Funds, verifiedUser } from './people'
import { activityOf, type Checkout, cashoutBody, entryIn, insist, refusedAccount, reversedAccount } from './requests'

export type Flow = {
  readonly kind: 'topup' | 'settlement' | 'cashout' | 'send'
  readonly person: Person
  readonly id: string
  /** Amount in 10⁻⁶ AUSD. */
  readonly micro: bigint
  /** Receiver of a send, a new wallet. */
  readonly to?: Address
  /** Allowed final statuses. */
  readonly ends: readonly string[]
}

/** Sends a request. Throws unless the response is a 200. */
export type Ask = (path: string, body: object) => Promise<Reply['body']>
const insisting =
  (person: Person): Ask =>
  (path, body) =>
    insist(person, path, body)

type TopUp = { pair?: 'USD/IDR' | 'USD/MYR'; amount?: string; channel?: string; quoteId?: string }

async function openTopUp(person: Person, terms: TopUp, ask: Ask): Promise<Flow> {
  const { pair = 'USD/IDR', channel = 'QRIS' } = terms
  const { amount = pair === 'USD/IDR' ? '50000' : '1500' } = terms
  const method = channel === 'CARDS' ? 'card' : 'qr'
  const quoteId = terms.quoteId ?? (await ask('/quote', { pair })).id
  const { paymentId: id, ausd } = await ask('/topups', { amount, method, quoteId })
  return { kind: 'topup', person, id, micro: BigInt(ausd), ends: ['credited'] }
}

/** Tops up, by QRIS by default. */
export async function topUp(
  stack: RunningStack,
  person: Person,
  terms: TopUp = {},
  ask = insisting(person),
): Promise<Flow> {
  const flow = await openTopUp(person, terms, ask)
  await outsideOf(stack.info).pay(flow.id, terms.channel ?? 'QRIS')
  return flow
}

export async function creditedTopUp(...args: [stack: RunningStack, person: Person, terms?: TopUp]): Promise<Flow> {
  const flow = await topUp(...args)
  await entryIn(flow.person, flow.id, 'credited')
  return flow
}

export async function borrower(
  stack: RunningStack,
  has: Funds = { wei: 10n ** 19n },
  amount = '500000',
): Promise<Person> {
  const person = await verifiedUser(stack, has)
  await creditedTopUp(stack, person, { amount })
  return person
}

export async function openSettlement(person: Person, ask = insisting(person)): Promise<Checkout> {
  const { id: quoteId } = await ask('/quote', { pair: 'USD/IDR' })
  return ask('/settlements', { quoteId })
}

/** Settles the debt, by bank transfer by default. */
export async function settle(stack: RunningStack, person: Person, channel = 'BCA_VIRTUAL_ACCOUNT'): Promise<Flow> {
  const { paymentId: id, ausd } = await openSettlement(person)
  await outsideOf(stack.info).pay(id, channel)
  return { kind: 'settlement', person, id, micro: BigInt(ausd), ends: ['repaid'] }
}

/** Cashes out, by default to the user's own account. */
export async function cashOut(
  stack: RunningStack,
  person: Person,
  terms: Parameters<typeof cashoutBody>[2] = {},
  ask = insisting(person),
): Promise<Flow> {
  const body = await cashoutBody(stack, person, terms)
  const { payoutId: id } = await ask('/cashouts', body)
  const isReturned = [refusedAccount, reversedAccount].includes(body.bank.accountNumber)
  const micro = BigInt(body.authorization.value)
  return { kind: 'cashout', person, id, micro, ends: [isReturned ? 'returned' : 'paid'] }
}

/** Sends AUSD to a new wallet. */
export async function send(person: Person, micro = 250_000n, ask = insisting(person)): Promise<Flow> {
  const to = privateKeyToAddress(generatePrivateKey())
  const authorization = await person.sign({ to, valueMicro: micro })
  const { sendId: id } = await ask('/sends', { authorization })
  return { kind: 'send', person, id, micro, to, ends: ['sent'] }
}

/** Returns the ms until all flows have a final status. */
export async function flowsEnding(flows: readonly Flow[], deadlineMs?: number): Promise<number> {
  const startedAt = performance.now()
  const open = new Map(flows.map((flow) => [flow, 'unknown']))
  const look = async () => {
    for (const person of new Set([...open.keys()].map((flow) => flow.person))) {
      const statuses = new Map((await activityOf(person)).map(({ id, status }) => [id, status]))
      for (const flow of [...open.keys()].filter((one) => one.person === person)) {
        const status = statuses.get(flow.id) ?? 'missing'
        if (flow.ends.includes(status)) open.delete(flow)
        else open.set(flow, status)
      }
    }
    return open.size === 0
  }
  await waitUntil('every flow ending', look, deadlineMs, 250).catch((error: Error) => {
    const left = [...open].map(([{ kind, id, ends }, is]) => `${kind} ${id} is ${is}, not ${ends}`)
    throw new Error([error.message, ...left].join('\n'))
  })
  return Math.round(performance.now() - startedAt)
}

/**
 * Expects exact amounts. On the chain: one credit of each top-up (not by card), one take of each cash-out and one
 * return if the bank refused it, one transfer of each send. At the provider: one payout of each cash-out.
 */
export async function expectOnceEach(stack: RunningStack, flows: readonly Flow[]): Promise<void> {
  const { creditLine, treasury } = stack.info.chain
  const of = (kind: Flow['kind']) => flows.filter((flow) => flow.kind === kind)
  for (const { id, person, micro: ausdMicro } of of('topup'))
    expect(await creditsOf(stack, id)).toEqual([{ wallet: person.wallet, ausdMicro, held: false }])
  const textOf = (from: string, to: string, micro: bigint) => `${from} ${to} ${micro}`.toLowerCase()
  for (const { to, micro } of of('send')) expect(await transfersOf(stack, to!)).toMatchObject([{ ausdMicro: micro }])
  for (const person of new Set(flows.map((flow) => flow.person))) {
    const { wallet } = person
    const moves = (await transfersOf(stack, wallet)).filter(
      ({ from }) => from !== creditLine.toLowerCase(), // The transfer of a draw is not a flow.
    )
    const wanted = flows
      .filter((flow) => flow.person === person)
      .flatMap(({ kind, micro, to, ends }) => [
        ...(kind === 'send' ? [textOf(wallet, to!, micro)] : []),
        ...(kind === 'cashout' ? [textOf(wallet, treasury, micro)] : []),
        ...(ends.includes('returned') ? [textOf(treasury, wallet, micro)] : []),
      ])
    const seen = moves.map(({ from, to, ausdMicro }) => textOf(from, to, ausdMicro))
    expect(seen.sort()).toEqual(wanted.sort())
  }
  const { payouts = [] } = await outsideOf(stack.info).book()
  for (const { id } of of('cashout')) expect(payouts.filter(({ reference_id }) => reference_id === id)).toHaveLength(1)
}

const takenMicro = 5_000_000n
const sentMicro = 1_500_000n
/** AUSD (10⁻⁶) that is enough for `beginPaths`. */
export const pathsCostMicro = takenMicro + sentMicro

export const beginPaths = (stack: RunningStack, person: Person): Promise<[Flow, Flow, Flow]> =>
  Promise.all([
    topUp(stack, person),
    cashOut(stack, person, { accountNumber: refusedAccount, ausdMicro: takenMicro }),
    send(person, sentMicro),
  ])

type Begin = (stack: RunningStack, person: Person) => Promise<Flow>

const refunded: Begin = async (stack, person) => {
  const flow = await topUp(stack, person, { channel: 'CARDS' })
  await outsideOf(stack.info).refund(flow.id)
  return { ...flow, ends: ['refunded', 'revoked'] }
}

const declined: Begin = async (stack, person) => {
  const flow = await openTopUp(person, {}, insisting(person))
  const outside = outsideOf(stack.info)
  await outside.control(`sessions/${flow.id}/fail`, { channel_code: 'QRIS' })
  await outside.expire(flow.id)
  // An open checkout is left to the list, which reports no expiry.
  await query(stack, `update payments.payments set expires_at = now() where id = '${flow.id}'`)
  return { ...flow, ends: ['expired'] }
}

const paidLate: Begin = async (stack, person) => {
  const flow = await openTopUp(person, {}, insisting(person))
  await outsideOf(stack.info).expire(flow.id)
  await outsideOf(stack.info).pay(flow.id, 'QRIS')
  return flow
}

const settlement: Begin = async (stack, person) => {
  await person.draw(1_000_000n)
  return settle(stack, person)
}

const kinds: readonly Begin[] = [
  topUp,
  (stack, person) => topUp(stack, person, { pair: 'USD/MYR', channel: 'MAYB2U_FPX' }),
  (stack, person) => topUp(stack, person, { channel: 'CARDS' }),
  refunded,
  declined,
  paidLate,
  settlement,
  ...['1234567890', refusedAccount, reversedAccount].map(
    (accountNumber): Begin =>
      (stack, person) =>
        cashOut(stack, person, { accountNumber, ausdMicro: 2_000_000n }),
  ),
  (_, person) => send(person),
]

/** Begins flows of each kind, in an order that the seed gives. */
export async function beginEachKind(stack: RunningStack, people: readonly Person[], seed: number): Promise<Flow[]> {
  const chance = openRandom()
  chance.reseed(seed)
  const order = chance.shuffle(kinds)
  // The flows of a user are sequential, because a settlement is refused while a draw is in progress.
  const lines = people.map(async (person, index) => {
    const flows: Flow[] = []
    for (const begin of order.filter((_, at) => at % people.length === index)) flows.push(await begin(stack, person))
    return flows
  })
  return (await Promise.all(lines)).flat()
}
