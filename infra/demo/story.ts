import type { Address } from 'viem'
import type { Outside } from '#infra/demo/outside'
import type { Person } from '#infra/demo/person'
import { ausdText, rupiahText, type Timeline } from '#infra/demo/timeline'
import type { StackFile } from '#infra/local/stack-file'
import { waitUntil } from '#infra/local/wait'

export type Scene = { person: Person; outside: Outside; stack: StackFile; line: Timeline }

const answered = (what: string, reply: { status: number; body: { error?: string } }) => {
  if (reply.status !== 200)
    throw new Error(`${what} was refused: ${reply.status} ${reply.body.error}`)
}

export async function identityScene({ person, outside, line }: Scene) {
  line.chapter('1. Identity')
  line.say(`a new wallet signs in: ${person.wallet}`)
  const before = await person.me()
  line.say(`verified: ${before.verified}, native coin: ${before.balance.native} wei`)
  await outside.identity(person.wallet, 'approved')
  line.say('the identity provider approves, its webhook is signed')
  const me = await person.until(
    'verification',
    (seen) => seen.verified && BigInt(seen.balance.native) > BigInt(before.balance.native) && seen,
  )
  line.say(`verified on the chain, native coin dripped: ${me.balance.native} wei`)
}

/** A rate is kept for a minute: long enough to decide. */
async function lockRate(person: Person) {
  const reply = await person.insist('/quote', { pair: 'USD/IDR' })
  answered('the rate', reply)
  return reply.body
}

export async function topupScene({ person, outside, line }: Scene) {
  line.chapter('2. Top-up by QRIS')
  const quote = await lockRate(person)
  line.say(`rate locked for 60 s: ${rupiahText(quote.rate)} per dollar`)
  const reply = await person.insist('/topups', {
    amount: '500000',
    method: 'qr',
    quoteId: quote.id,
  })
  answered('the top-up', reply)
  line.say(`checkout open for ${rupiahText(reply.body.fiat)}: ${reply.body.checkoutUrl}`)
  await outside.pay(reply.body.paymentId, 'QRIS')
  line.say('paid by QRIS: two webhooks are on their way, in any order')
  const me = await person.until('the credit', (seen) => seen.collateral.value !== '0' && seen)
  line.say(`collateral ${ausdText(me.collateral.value)}, limit ${ausdText(me.limit)}`)
}

export async function drawScene({ person, line }: Scene, title = '3. Draw'): Promise<bigint> {
  line.chapter(title)
  const micro = BigInt((await person.me()).limit) / 2n
  await person.draw(micro)
  const me = await person.until('the draw', (seen) => seen.drawn !== '0' && seen)
  line.say(`drew ${ausdText(me.drawn)} straight from the contract, paying gas from the drip`)
  return micro
}

export async function settlementScene({ person, outside, line }: Scene) {
  line.chapter('4. Settlement')
  const quote = await lockRate(person)
  const reply = await person.insist('/settlements', { quoteId: quote.id })
  answered('the settlement', reply)
  line.say(
    `${rupiahText(reply.body.fiat)} pays the debt of ${ausdText(reply.body.ausd)}, rounded up`,
  )
  await outside.pay(reply.body.paymentId, 'BCA_VIRTUAL_ACCOUNT')
  const me = await person.until('the repayment', (seen) => seen.drawn === '0' && seen)
  line.say(`nothing is owed, ${me.cycles} cycle closed, score ${me.score}`)
}

export async function cashoutScene({ person, line, stack }: Scene) {
  line.chapter('6. Cash-out to a bank')
  const quote = await lockRate(person)
  const authorization = await person.sign({
    to: stack.chain.treasury as Address,
    valueMicro: 3_000_000n,
  })
  const bank = {
    channelCode: 'ID_BCA',
    accountNumber: '1234567890',
    accountHolderName: 'Sari Dewi',
  }
  const reply = await person.insist('/cashouts', { quoteId: quote.id, authorization, bank })
  answered('the cash-out', reply)
  line.say(
    `${ausdText(reply.body.ausd)} becomes ${rupiahText(reply.body.fiat)}, payout ${reply.body.payoutId}`,
  )
  let last = ''
  await waitUntil('the payout', async () => {
    const { items } = (await person.get('/me/activity')).body
    const entry = items.find((item: { id: string }) => item.id === reply.body.payoutId)
    if (entry && entry.status !== last) line.say(`payout: ${entry.status}`)
    last = entry?.status ?? last
    return last === 'paid'
  })
}

export async function recordScene({ person, line, stack }: Scene) {
  line.chapter('7. Public record')
  const record = await waitUntil('the reader seeing the closed cycle', async () => {
    const answer = await fetch(`${stack.gateway}/verify/${person.wallet}`)
    // biome-ignore lint/suspicious/noExplicitAny: a demo reads what it shows
    const body = (await answer.json()) as any
    return body.history?.cycleCount === body.cycles && body
  })
  line.say(`GET /verify/${person.wallet}`)
  console.log(JSON.stringify(record, null, 2).replace(/^/gm, '            '))
}
