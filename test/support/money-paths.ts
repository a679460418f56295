import { expect } from 'bun:test'
import { type Address, getAddress, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { outsideOf } from '#infra/demo/outside'
import type { Person, Reply } from '#infra/demo/person'
import type { RunningStack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { ausdOf, creditsOf, transfersOf } from './ledger'
import { cashoutBody } from './requests'

/** Retries until the status is 200, as the app does. */
export const persist = (what: string, ask: () => Promise<Reply>): Promise<Reply> =>
  waitUntil(what, async () => {
    const reply = await ask()
    return reply.status === 200 && reply
  })

/** The bank refuses it, so the AUSD is taken and returned. */
const refusedAccount = '999999'

export type Orders = { topup: Reply['body']; cashout: Reply['body']; send: Reply['body'] }
const takenMicro = 5_000_000n
const sentMicro = 1_500_000n
/** Enough for all three paths. */
export const pathsCostMicro = takenMicro + sentMicro

/** Starts them in parallel; the bank refuses the cash-out. */
export async function beginPaths(stack: RunningStack, person: Person): Promise<Orders> {
  const recipient = privateKeyToAddress(generatePrivateKey())
  const quote = await person.quote('USD/IDR')
  const topupBody = { amount: '50000', method: 'qr', quoteId: quote.id }
  const terms = { accountNumber: refusedAccount, ausdMicro: takenMicro }
  const payout = await cashoutBody(stack, person, terms)
  const authorization = await person.sign({ to: recipient, valueMicro: sentMicro })
  const [topup, cashout, send] = await Promise.all([
    persist('a checkout', () => person.post('/topups', topupBody)),
    persist('the cash-out', () => person.post('/cashouts', payout)),
    persist('the send', () => person.post('/sends', { authorization })),
  ])
  await outsideOf(stack.info).pay(topup.body.paymentId, 'QRIS')
  return { topup: topup.body, cashout: cashout.body, send: send.body }
}

export const pathsEnding = (
  person: Person,
  { topup, cashout, send }: Orders,
  deadlineMs?: number,
) =>
  waitUntil(
    'every path ending',
    async () => {
      const { items } = (await person.get('/me/activity')).body
      const statusOf = (id: string) => items?.find((item: { id: string }) => item.id === id)?.status
      const seen = [topup.paymentId, cashout.payoutId, send.sendId].map(statusOf).join(', ')
      if (seen !== 'credited, returned, sent') throw new Error(`they are ${seen}`)
      return true
    },
    deadlineMs,
  )

/** One credit, take, return and transfer, with exact amounts, on the chain. */
export async function expectOnceEach(stack: RunningStack, person: Person, { topup, send }: Orders) {
  const { wallet } = person
  const treasury = stack.info.chain.treasury.toLowerCase()
  expect(await creditsOf(stack, topup.paymentId)).toEqual([
    { wallet, ausdMicro: BigInt(topup.ausd), held: false },
  ])
  const moves = await transfersOf(stack, wallet)
  const told = moves.map(({ from, to, ausdMicro }) => `${from} ${to} ${ausdMicro}`).sort()
  expect(told).toEqual(
    [
      `${wallet} ${treasury} ${takenMicro}`,
      `${treasury} ${wallet} ${takenMicro}`,
      `${wallet} ${send.to.toLowerCase()} ${sentMicro}`,
    ].sort(),
  )
  expect(await ausdOf(stack, getAddress(send.to) as Address & Hex)).toBe(sentMicro)
}
