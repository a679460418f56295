import { beforeAll, describe, expect, test } from 'bun:test'
import type { Address } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import type { Person } from '#infra/demo/person'
import type { RunningStack } from '#infra/local/stack'
import type { SignedTransfer } from '#shared/chain/erc3009'
import { okOf } from '#shared/client/client'
import { ausdOf } from '../support/ledger'
import { newUser, verifiedUser } from '../support/people'
import { answered, bank, entryIn } from '../support/requests'
import { sharedStack } from '../support/stack'

// Other users try every id of Ana's items.

type Answer = { readonly status: number; readonly body: unknown }
type Stranger = 'somebody else' | 'an unverified user' | 'nobody'
const strangers: readonly Stranger[] = ['somebody else', 'an unverified user', 'nobody']

let stack: RunningStack
let ana: Person
let others: Record<Exclude<Stranger, 'nobody'>, Person>
let hers: {
  readonly quoteId: string
  readonly topup: { readonly amount: string; readonly method: 'qr'; readonly quoteId: string }
  readonly ids: readonly string[]
  readonly cursor: string
  readonly toFriend: SignedTransfer
  readonly toTreasury: SignedTransfer
}
const friend = privateKeyToAddress(generatePrivateKey())

beforeAll(async () => {
  stack = await sharedStack()
  const rich = { ausdMicro: 20_000_000n }
  const [first, second, newcomer] = await Promise.all([
    verifiedUser(stack, rich),
    verifiedUser(stack, rich),
    newUser(stack, rich),
  ])
  ana = first
  others = { 'somebody else': second, 'an unverified user': newcomer }
  const quoteId = okOf(await ana.api.quote('USD/IDR')).id
  const topup = { amount: '50000', method: 'qr', quoteId } as const
  const { paymentId } = okOf(await ana.api.topUp(topup))
  const treasury = stack.info.chain.treasury as Address
  const send = { authorization: await ana.sign({ to: friend, valueMicro: 1_000_000n }) }
  const { sendId } = okOf(await ana.api.send(send))
  await entryIn(ana, sendId, 'sent')
  const { nextCursor } = (await answered(() => ana.get('/me/activity?limit=1'))).body
  hers = {
    quoteId,
    topup,
    ids: [paymentId, sendId],
    cursor: nextCursor,
    toFriend: await ana.sign({ to: friend, valueMicro: 2_000_000n }),
    toTreasury: await ana.sign({ to: treasury, valueMicro: 3_000_000n }),
  }
})

const as = (who: Stranger, method: 'GET' | 'POST', path: string, body?: unknown) =>
  answered<Answer>(async () => {
    if (who !== 'nobody') return others[who].call(method, path, body)
    const headers = { 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await fetch(stack.info.gateway + path, { method, headers, ...sent })
    return { status: answer.status, body: await answer.json() }
  })

const ownTransfer = async (who: Stranger) => {
  const signer = who === 'nobody' ? others['somebody else'] : others[who]
  return signer.sign({ to: stack.info.chain.treasury as Address, valueMicro: 3_000_000n })
}
const freshQuote = async () => (await ana.quote('USD/IDR')).id

const used = 'This quote has already been used.'
const notTheirs = 'authorization.from must be your wallet'
const requests: readonly (readonly [string, string, (who: Stranger) => Promise<Answer>])[] = [
  ['her quote, for a top-up', used, (who) => as(who, 'POST', '/topups', hers.topup)],
  ['her quote, for a settlement', used, (who) => as(who, 'POST', '/settlements', { quoteId: hers.quoteId })],
  [
    'her quote, for a cash-out',
    used,
    async (who) => {
      const authorization = await ownTransfer(who)
      return as(who, 'POST', '/cashouts', { quoteId: hers.quoteId, authorization, bank })
    },
  ],
  ['her transfer, as a send', notTheirs, (who) => as(who, 'POST', '/sends', { authorization: hers.toFriend })],
  [
    'her transfer, for a cash-out to their own bank',
    notTheirs,
    async (who) => {
      const body = { quoteId: await freshQuote(), authorization: hers.toTreasury, bank }
      return as(who, 'POST', '/cashouts', body)
    },
  ],
]

describe.each(strangers)('%s', (who) => {
  test.each(requests)('is refused with %s: %s', async (_, error, tryIt) => {
    const { status, body } = await tryIt(who)
    const missing = 'the Authorization header is missing: sign in again'
    const answer = who === 'nobody' ? [401, { error: missing }] : [400, { error }]
    expect([status, body]).toEqual(answer)
  })

  test("gets the same answer for another user's items as for items that do not exist", async () => {
    const unknown = [`pay_${'x'.repeat(22)}`, `snd_${'x'.repeat(22)}`, crypto.randomUUID()]
    const answers = await Promise.all([...hers.ids, ...unknown].map((id) => as(who, 'GET', `/me/activity/${id}`)))
    const [first] = answers
    expect(first!.status).toBe(who === 'nobody' ? 401 : 404)
    for (const { status, body } of answers) expect([status, body]).toEqual([first!.status, first!.body])
  })

  test("cannot cancel another user's checkout, and gets the answer for an unknown id", async () => {
    const [open] = hers.ids
    const ids = [open!, `pay_${'x'.repeat(22)}`]
    const answers = await Promise.all(
      ['topups', 'settlements'].flatMap((of) => ids.map((id) => as(who, 'POST', `/${of}/${id}/cancel`))),
    )
    const [first] = answers
    expect(first!.status).toBe(who === 'nobody' ? 401 : 404)
    for (const { status, body } of answers) expect([status, body]).toEqual([first!.status, first!.body])
    expect(okOf(await ana.api.item(open!)).status).toBe('awaiting_payment')
  })

  test("with another user's cursor sees none of that user's items", async () => {
    const paths = ['/me', '/me/activity', `/me/activity?cursor=${hers.cursor}`, '/me/export']
    for (const path of [...paths, `/me/export?wallet=${ana.wallet}`]) {
      const { status, body } = await as(who, 'GET', path)
      expect(status).toBe(who === 'nobody' ? 401 : 200)
      for (const one of [...hers.ids, ana.wallet.slice(2)])
        expect(JSON.stringify(body).toLowerCase()).not.toContain(one.toLowerCase())
    }
  })
})

test("the other user's requests keep their first responses, and her authorizations are unused", async () => {
  const again = okOf(await ana.api.topUp(hers.topup))
  expect(hers.ids).toContain(again.paymentId)
  const { items } = okOf(await ana.api.activity())
  expect(items.map(({ id }) => id).sort()).toEqual([...hers.ids].sort())
  const { sendId } = okOf(await ana.api.send({ authorization: hers.toFriend }))
  await entryIn(ana, sendId, 'sent')
  expect(await ausdOf(stack, friend)).toBe(3_000_000n)
  expect(await ausdOf(stack, ana.account.address)).toBe(17_000_000n)
})

test('her own export has her items, and of the other side of a transfer only its address', async () => {
  const { rows, wallet } = okOf(await ana.api.exportData())
  expect(wallet).toBe(ana.wallet)
  const text = JSON.stringify(rows)
  for (const id of hers.ids) expect(text).toContain(id)
  const named = rows.filter((row) => JSON.stringify(row).includes(friend.toLowerCase()))
  expect(new Set(named.map(({ table }) => table))).toEqual(new Set(['chain_relayer.operation']))
  for (const one of Object.values(others)) expect(text).not.toContain(one.wallet.slice(2))
})
