import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Handler } from '#platform/bus/serve'
import { CashoutCancel, CashoutHold } from '#shared/messages/payouts'
import { waitUntil } from '#test/support/wait'
import { type Fixture, openFixture } from '../test-support'
import { answerOperatorCommands } from './operator-commands'

let fixture: Fixture
let commands: Handler[]
beforeAll(async () => {
  fixture = await openFixture()
  commands = answerOperatorCommands(fixture.context)
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

type Outcome = { ok: { done?: string; refused?: string } }
const order = async (subject: string, more: object) => {
  const one = commands.find(({ question }) => question.subject === subject)!
  const asked = { command: crypto.randomUUID(), by: 'olga', reason: 'ticket 7', ...more }
  return ((await one.answer(asked)) as Outcome).ok
}
const hold = async (payoutId: string, to: 'held' | 'released', revision?: number) => {
  const seen = revision ?? (await fixture.row(payoutId)).holdRevision
  return order(CashoutHold.subject, { payoutId, to, revision: seen })
}
const cancel = (payoutId: string) => order(CashoutCancel.subject, { payoutId })

/** Returns a held cash-out whose AUSD is in the treasury. */
async function heldAndTaken(): Promise<string> {
  const { ok } = await fixture.create(fixture.request())
  expect(await hold(ok!.payoutId, 'held')).toEqual({ done: expect.stringContaining('is not paid until') })
  await fixture.relayed('take', ok!.payoutId)
  const isChecked = async () => (await fixture.row(ok!.payoutId)).checks > 1
  await waitUntil('two checks of the held cash-out', isChecked)
  return ok!.payoutId
}

describe('a cash-out that an operator holds', () => {
  // guard: a cash-out that an operator holds is not paid
  test('is not paid until the operator releases it, and then once', async () => {
    const id = await heldAndTaken()
    expect([(await fixture.row(id)).state, await fixture.transfers(id)]).toEqual(['taken', []])
    expect(await hold(id, 'released')).toEqual({ done: `${id} is released` })
    await fixture.until(id, 'paid')
    expect(await fixture.transfers(id)).toHaveLength(1)
  })

  test('counts as given if it is released, and as nothing if it is held', async () => {
    const id = await heldAndTaken()
    const { worth } = commands.find(({ question }) => question.subject === CashoutHold.subject)!
    const { ausdMicro, wallet } = await fixture.row(id)
    expect(await worth!({ payoutId: id, to: 'released' } as never)).toEqual({ micro: ausdMicro, to: wallet, seen: '' })
    expect(await worth!({ payoutId: id, to: 'held' } as never)).toMatchObject({ micro: 0n })
    expect(await worth!({ payoutId: crypto.randomUUID(), to: 'released' } as never)).toBeUndefined()
  })

  test('can be cancelled: its AUSD is returned once, and nothing is paid', async () => {
    const id = await heldAndTaken()
    expect(await cancel(id)).toEqual({ done: `the AUSD of ${id} is being returned` })
    expect(await cancel(id)).toEqual({ done: `the AUSD of ${id} is returning` })
    expect(await fixture.row(id)).toMatchObject({ state: 'returning', reason: 'cancelled' })
    await fixture.relayed('return', id)
    await fixture.until(id, 'returned')
    expect(await fixture.transfers(id)).toEqual([])
    // An order that is unanswered for long is sent again; the relayer executes it once.
    expect(await fixture.sent(id)).toContain('relay.return')
  })

  test('is said to be released only if it was held', async () => {
    const { ok } = await fixture.create(fixture.request())
    const id = ok!.payoutId
    expect(await hold(id, 'released')).toEqual({ done: `${id} is not held, and is taking` })
    await fixture.relayed('take', id)
    await fixture.until(id, 'paid')
    expect(await hold(id, 'released')).toEqual({ done: `${id} is not held, and is paid` })
  })

  test('changes nothing by a repeated command, or by a late one that has not seen the newest', async () => {
    const { ok } = await fixture.create(fixture.request())
    const id = ok!.payoutId
    await hold(id, 'held', 0)
    expect(await hold(id, 'held', 0)).toEqual({ done: `${id} is held` })
    await hold(id, 'released', 1)
    expect(await hold(id, 'held', 0)).toEqual({ refused: `the hold of ${id} has changed: look again` })
    expect(await fixture.row(id)).toMatchObject({ heldByOperator: false, holdRevision: 2 })
  })
})

/** Returns a cash-out whose row is that of a backup from before it was released and `end`ed. Its service does not look at it. */
async function heldAgain({ accountNumber = '1234567890', end = 'paid' } = {}) {
  return fixture.unhurried(async () => {
    const id = await fixture.taken({ bank: { accountNumber } })
    const { providerPayoutId } = await fixture.until(id, end)
    await fixture.putBack(id, 'taken', { heldByOperator: true, nextCheckAt: null })
    return { id, providerPayoutId: providerPayoutId! }
  })
}

describe('a held cash-out whose row is restored from a backup, and that was released and paid since', () => {
  // guard: a cash-out is cancelled only after its payout was looked for
  test('is not cancelled, and is followed once it is released', async () => {
    const { id, providerPayoutId } = await heldAgain()
    const returns = await fixture.orders(id, 'relay.return')
    expect(await cancel(id)).toEqual({ refused: expect.stringContaining(`has a payout of ${id}`) })
    expect(await fixture.row(id)).toMatchObject({ state: 'taken', providerPayoutId })
    expect(await fixture.orders(id, 'relay.return')).toEqual(returns)
    await hold(id, 'released')
    await fixture.until(id, 'paid')
    expect(await fixture.transfers(id)).toHaveLength(1)
  })

  // guard: a cash-out whose payout may have reached the bank is not cancelled
  test("is not cancelled if the provider's list has told of its payout, also if no look-up finds it", async () => {
    const { id, providerPayoutId } = await heldAgain()
    await fixture.list()
    expect(await fixture.row(id)).toMatchObject({ state: 'taken', providerPayoutId })
    const none = (call: Request) =>
      call.url.includes('reference_id=') ? Response.json({ has_more: false, data: [] }) : undefined
    await fixture.detoured(none, async () => {
      expect(await cancel(id)).toEqual({ refused: expect.stringContaining(`has a payout of ${id}`) })
    })
    expect(await fixture.row(id)).toMatchObject({ state: 'taken' })
  })

  test('is not cancelled while the provider cannot be read', async () => {
    const { id } = await heldAgain()
    const down = () => Response.json({ error_code: 'SERVER_ERROR' }, { status: 500 })
    await fixture.detoured(down, async () => {
      await expect(cancel(id)).rejects.toThrow()
    })
    expect(await fixture.row(id)).toMatchObject({ state: 'taken' })
  })

  test('is cancelled if the bank has refused its payout', async () => {
    const { id } = await heldAgain({ accountNumber: '999999', end: 'returning' })
    expect(await cancel(id)).toEqual({ done: `the AUSD of ${id} is being returned` })
    expect(await fixture.row(id)).toMatchObject({ state: 'returning', reason: 'cancelled' })
  })
})

describe('an operator cannot', () => {
  // guard: a cash-out is cancelled only before its payout is ordered
  test('hold or cancel a cash-out whose payout was ordered', async () => {
    const { id } = await fixture.until(await fixture.taken(), 'paid')
    expect(await hold(id, 'held')).toEqual({ refused: expect.stringContaining(`${id} is paid`) })
    expect(await cancel(id)).toEqual({ refused: expect.stringContaining(`${id} is paid`) })
    expect(await fixture.sent(id)).not.toContain('relay.return')
  })

  test('cancel a cash-out whose AUSD is not taken, which would be kept', async () => {
    const { ok } = await fixture.create(fixture.request())
    expect(await cancel(ok!.payoutId)).toEqual({ refused: expect.stringContaining('is not taken yet: hold it') })
  })

  test('hold or cancel a cash-out that does not exist', async () => {
    const id = crypto.randomUUID()
    expect([await hold(id, 'held', 0), await cancel(id)]).toEqual([
      { refused: `there is no cash-out ${id}` },
      { refused: `there is no cash-out ${id}` },
    ])
  })
})
