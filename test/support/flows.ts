import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { type Outside, outsideOf } from '#infra/demo/outside'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { openChance } from '#infra/sandbox/random'
import { query } from './database'
import { persist } from './money-paths'
import { cashoutBody } from './requests'

/** `ends`: allowed ends of its activity entry. */
export type Flow = { person: Person; id: string; ends: readonly string[] }
type Parts = { stack: Stack; outside: Outside; person: Person }
type Begin = (parts: Parts) => Promise<Flow>

const open = async ({ person }: Parts, method: 'qr' | 'card', pair: 'USD/IDR' | 'USD/MYR') => {
  const quote = await persist('a quote', () => person.post('/quote', { pair }))
  const amount = pair === 'USD/IDR' ? '50000' : '1500'
  const body = { amount, method, quoteId: quote.body.id }
  const reply = await persist('a checkout', () => person.post('/topups', body))
  return reply.body.paymentId as string
}

const topup =
  (pair: 'USD/IDR' | 'USD/MYR', channel: string): Begin =>
  async (parts) => {
    const id = await open(parts, channel === 'CARDS' ? 'card' : 'qr', pair)
    await parts.outside.pay(id, channel)
    return { person: parts.person, id, ends: ['credited'] }
  }

const refunded: Begin = async (parts) => {
  const flow = await topup('USD/IDR', 'CARDS')(parts)
  await parts.outside.refund(flow.id)
  return { ...flow, ends: ['refunded', 'revoked'] }
}

const declined: Begin = async (parts) => {
  const id = await open(parts, 'qr', 'USD/IDR')
  await parts.outside.control(`sessions/${id}/fail`, { channel_code: 'QRIS' })
  await parts.outside.expire(id)
  // Expires it for us too: an open checkout is left to the list, which reports no expiry.
  await query(parts.stack, `update payments.payments set expires_at = now() where id = '${id}'`)
  return { person: parts.person, id, ends: ['expired'] }
}

const paidLate: Begin = async (parts) => {
  const id = await open(parts, 'qr', 'USD/IDR')
  await parts.outside.expire(id)
  await parts.outside.pay(id, 'QRIS')
  return { person: parts.person, id, ends: ['credited'] }
}

const settlement: Begin = async ({ person, outside }) => {
  await person.draw(1_000_000n)
  const quote = await persist('a quote', () => person.post('/quote', { pair: 'USD/IDR' }))
  const body = { quoteId: quote.body.id }
  const reply = await persist('a settlement', () => person.post('/settlements', body))
  await outside.pay(reply.body.paymentId, 'BCA_VIRTUAL_ACCOUNT')
  return { person, id: reply.body.paymentId, ends: ['repaid'] }
}

const cashout =
  (accountNumber: string, end: string): Begin =>
  async ({ stack, person }) => {
    const body = await cashoutBody(stack, person, { accountNumber, ausdMicro: 2_000_000n })
    const reply = await persist('a cash-out', () => person.post('/cashouts', body))
    return { person, id: reply.body.payoutId, ends: [end] }
  }

const send: Begin = async ({ person }) => {
  const to = privateKeyToAddress(generatePrivateKey())
  const authorization = await person.sign({ to, valueMicro: 250_000n })
  const reply = await persist('a send', () => person.post('/sends', { authorization }))
  return { person, id: reply.body.sendId, ends: ['sent'] }
}

const kinds: readonly Begin[] = [
  topup('USD/IDR', 'QRIS'),
  topup('USD/MYR', 'MAYB2U_FPX'),
  topup('USD/IDR', 'CARDS'),
  refunded,
  declined,
  paidLate,
  settlement,
  cashout('1234567890', 'paid'),
  cashout('999999', 'returned'),
  cashout('654321', 'returned'),
  send,
]

/** Every kind once, then random ones, ordered by the seed. */
export function beginFlows(
  stack: Stack,
  people: readonly Person[],
  { count, seed }: { count: number; seed: number },
): Promise<Flow[]> {
  const chance = openChance()
  chance.reseed(seed)
  const more = Array.from(
    { length: count - kinds.length },
    () => kinds[chance.belowMs(kinds.length)]!,
  )
  const outside = outsideOf(stack.info)
  const order = chance.shuffle([...kinds, ...more])
  // Sequential: a settlement is refused while a draw is in progress.
  const lines = people.map(async (person, index) => {
    const flows: Flow[] = []
    for (const begin of order.filter((_, at) => at % people.length === index))
      flows.push(await begin({ stack, outside, person }))
    return flows
  })
  return Promise.all(lines).then((flows) => flows.flat())
}

/** Lists those without their expected end. */
export async function flowsEnding(flows: readonly Flow[], deadlineMs: number): Promise<void> {
  let open: string[] = []
  const allEnded = async () => {
    open = []
    for (const person of new Set(flows.map((flow) => flow.person))) {
      const { items } = (await person.get('/me/activity?limit=100')).body
      for (const { id, ends } of flows.filter((flow) => flow.person === person)) {
        const status = items?.find((item: { id: string }) => item.id === id)?.status
        if (!ends.includes(status)) open.push(`${id} is ${status}, not ${ends.join(' or ')}`)
      }
    }
    return open.length === 0
  }
  await waitUntil('every flow ending', allEnded, deadlineMs, 250).catch((error: Error) => {
    throw new Error(`${error.message}\n${open.join('\n')}`)
  })
}
