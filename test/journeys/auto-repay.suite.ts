import { beforeAll, describe, expect, test } from 'bun:test'
import { maxUint256 } from 'viem'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { type Activity, okOf } from '#shared/client/client'
import { groupStack } from '../runner/group'
import { query } from '../support/database'
import { borrower, flowsEnding, send } from '../support/flows'
import { allowanceOf, ausdOf, chainSeconds, nextNightInMalaysia } from '../support/ledger'
import { startNotifier } from '../support/notifier'
import { fund } from '../support/people'
import { servesTruth } from '../support/verify'

// This suite moves the chain's clock for the whole stack.

const day = 86_400
const debtMicro = 3_000_000n

let stack: Stack
let outside: ExternalControls
let rich: Person
let pledger: Person
let poor: Person
let changed: Person
/** First second, by the chain, in which a debt may be repaid automatically. The last of the debts is drawn last. */
let startsAt: number
beforeAll(() => {
  stack = groupStack()
  outside = outsideOf(stack.info)
})

/** Moves the chain's clock to a time in unix seconds. */
const moveTo = async (at: number) => outside.advance(at - (await chainSeconds(stack)))

type Reminder = { readonly kind: string; readonly autoRepay?: { readonly max: string; readonly source: string } }
type Outcome = { readonly outcome: string; readonly reason: string | null; readonly txHash: string | null }

/** Returns the events of a wallet that the gateway announces, in order. */
const announced = async <T>(subject: 'credit.due' | 'credit.autorepay', { wallet }: Person): Promise<T[]> => {
  const rows = await query<{ payload: T }>(
    stack,
    `select payload from gateway.outbox where subject = '${subject}' and payload ->> 'wallet' = '${wallet}'
     order by position`,
  )
  return rows.map(({ payload }) => payload)
}
const triesOf = (person: Person) => announced<Outcome>('credit.autorepay', person)
const endedTries = (person: Person, count: number) =>
  waitUntil(`the end of try ${count}`, async () => {
    const tries = await triesOf(person)
    return tries.length >= count && tries
  })
const txHash = expect.stringMatching(/^0x[0-9a-f]{64}$/)
const repaid = { outcome: 'repaid', reason: null, ausd: String(debtMicro), txHash }

/** Returns the automatic repayments in the activity of a borrower, and whether each is in progress. */
async function itemsOf(person: Person) {
  const { items, inFlight } = (await person.get('/me/activity')).body as Activity
  expect(inFlight.filter(({ kind }) => kind === 'autorepay')).toEqual([])
  return items.filter(({ kind }) => kind === 'autorepay')
}

/** Opens a borrower in Brazil who has drawn, and whose wallet has what was drawn. */
async function owing(): Promise<Person> {
  const person = await borrower(stack)
  expect((await person.post('/me/country', { country: 'BR' })).status).toBe(200)
  await person.draw(debtMicro)
  return person
}

describe('a debt that its borrower lets be repaid automatically', () => {
  test('is owed by four borrowers: two allowed it, one sent the money away, and one took the permission back', async () => {
    const now = await chainSeconds(stack)
    await outside.advance(nextNightInMalaysia(now) - now) // The reminders are sent at the time of the draw.
    const people = await Promise.all([owing(), owing(), owing(), owing()])
    ;[rich, pledger, poor, changed] = people as [Person, Person, Person, Person]
    await Promise.all([
      rich.setAutoRepay(debtMicro, 'wallet'),
      pledger.setAutoRepay(2n * debtMicro, 'collateral'),
      poor.setAutoRepay(debtMicro, 'wallet'),
      changed.setAutoRepay(debtMicro, 'collateral').then(() => changed.setAutoRepay(0n, 'collateral')),
    ])
    await flowsEnding([await send(poor, debtMicro)])
    const startsOf = (person: Person, maxPerCycle: bigint, source: string) =>
      person.until('the permission', ({ autoRepay, cycle }) => {
        if (autoRepay?.maxPerCycle !== String(maxPerCycle) || autoRepay.source !== source) return undefined
        expect(Number(autoRepay.startsAt)).toBe(Number(cycle.dueAt) - day)
        return Number(autoRepay.startsAt)
      })
    const starts = await Promise.all([
      startsOf(rich, debtMicro, 'wallet'),
      startsOf(pledger, 2n * debtMicro, 'collateral'),
      startsOf(poor, debtMicro, 'wallet'),
    ])
    expect((await changed.me()).autoRepay).toBeNull()
    startsAt = Math.max(...starts)
  })

  test('is named by the reminder before it, with the most and the source', async () => {
    await moveTo(startsAt - 2 * day + 60)
    const reminderOf = (person: Person) =>
      waitUntil('the reminder', async () => (await announced<Reminder>('credit.due', person))[0])
    expect(await reminderOf(rich)).toMatchObject({
      kind: 'three_days_before',
      autoRepay: { max: String(debtMicro), source: 'wallet' },
    })
    expect(await reminderOf(pledger)).toMatchObject({
      autoRepay: { max: String(2n * debtMicro), source: 'collateral' },
    })
    expect(await reminderOf(changed)).not.toHaveProperty('autoRepay')
    expect(await triesOf(rich)).toEqual([])
  })

  test('is repaid a day before it is due from the wallet, which may be used again, and from the collateral', async () => {
    await using notifier = startNotifier(stack)
    const before = await pledger.me()
    await moveTo(startsAt + 60)
    for (const person of [rich, pledger]) {
      expect(await endedTries(person, 1)).toMatchObject([repaid])
      const me = await person.until('no debt', (seen) => seen.drawn === '0' && seen)
      expect(me.autoRepay).toMatchObject({ taken: '0', startsAt: null })
      await waitUntil('the notification', () =>
        notifier.linesOf(person.wallet).some((line) => line.includes('3 AUSD has repaid your debt automatically')),
      )
      expect((await servesTruth(stack, person.wallet)).history.cycles).toMatchObject([{ outcome: 'Qualified' }])
    }
    expect([await ausdOf(stack, rich.wallet), await allowanceOf(stack, rich.wallet)]).toEqual([0n, maxUint256])
    const after = await pledger.me()
    expect(BigInt(before.collateral.value) - BigInt(after.collateral.value)).toBe(debtMicro)
    expect(await ausdOf(stack, pledger.wallet)).toBe(debtMicro)
  })

  test('is an item of the activity, with its source, its transaction, and a receipt that names no wallet', async () => {
    for (const [person, source] of [[rich, 'wallet'] as const, [pledger, 'collateral'] as const]) {
      const items = await itemsOf(person)
      expect(items).toMatchObject([{ status: 'repaid', nextAction: null, ausd: String(debtMicro), source, txHash }])
      const { id, sentence } = items[0]!
      expect(sentence).toBe(`3.000000 AUSD of your debt was repaid automatically from your ${source}.`)
      expect((await person.get(`/me/activity/${id}`)).body).toMatchObject({ id, inFlight: false })
      expect((await poor.get(`/me/activity/${id}`)).status).toBe(404)
      // Operators find it by this id.
      const found = await query<{ wallet: string }>(
        stack,
        `select wallet from chain_relayer.operation where id = '${id}' and kind = 'autorepay'`,
      )
      expect(found).toEqual([{ wallet: person.wallet }])
      const receipt = okOf(await person.api.receipt(id))
      expect(receipt).toContain('3.000000 AUSD')
      expect(receipt.toLowerCase()).not.toContain(person.wallet.slice(2))
    }
  })

  test('is not repaid from a wallet without AUSD, which is announced, but once it has some, still in time', async () => {
    expect(await endedTries(poor, 1)).toMatchObject([{ outcome: 'failed', reason: 'balance_too_low', txHash: null }])
    expect((await poor.me()).drawn).toBe(String(debtMicro))
    const failed = await itemsOf(poor)
    expect(failed).toMatchObject([{ status: 'failed', reason: 'balance_too_low', ausd: String(debtMicro) }])
    expect(failed[0]!.sentence).toStartWith('Your wallet did not have enough AUSD')
    await fund(stack, poor.wallet, { ausdMicro: debtMicro, wei: 0n })
    await moveTo(startsAt + day - 2 * 3_600 + 60)
    expect(await endedTries(poor, 2)).toMatchObject([{ outcome: 'failed' }, repaid])
    await poor.until('no debt', (me) => me.drawn === '0')
    const { id, createdAt } = failed[0]!
    expect(await itemsOf(poor)).toMatchObject([{ id, status: 'repaid', txHash, createdAt }])
    expect((await servesTruth(stack, poor.wallet)).history.cycles).toMatchObject([{ outcome: 'Qualified' }])
  })

  test('stays as it is without a permission, and is tried no more once it is repaid', async () => {
    expect((await changed.me()).drawn).toBe(String(debtMicro))
    expect([await triesOf(changed), await itemsOf(changed)]).toEqual([[], []])
    for (const person of [rich, pledger]) expect(await triesOf(person)).toHaveLength(1)
    const rows = await query<{ wallet: string }>(stack, 'select wallet from gateway.auto_repayments')
    const wallets = rows.map(({ wallet }) => wallet)
    for (const [person, count] of [
      [rich, 1] as const,
      [pledger, 1] as const,
      [poor, 2] as const,
      [changed, 0] as const,
    ])
      expect(wallets.filter((wallet) => wallet === person.wallet)).toHaveLength(count)
  })
})
