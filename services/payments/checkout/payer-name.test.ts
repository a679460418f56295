import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { Unavailable } from '#platform/bus/ask'
import { newWallet, openFixture } from '../test-support'

const fixture = await openFixture()
afterAll(() => fixture[Symbol.asyncDispose]())

const name = { givenNames: 'Ratnapayera', surname: 'Wirapayera' }
type Reply = () => Promise<unknown>
const has =
  (found: unknown): Reply =>
  async () => ({ ok: { name: found } })
const silent: Reply = async () => {
  throw new Unavailable('the gateway is not there')
}
const identity = { asked: 0, reply: has(name) }
const { ask } = fixture.context
Object.assign(fixture.context, {
  sendsPayerName: true,
  ask: async (question: { subject: string }, request: unknown, patience: unknown) => {
    if (question.subject !== 'gateway.identity.name') return ask(question as never, request as never, patience as never)
    identity.asked++
    return identity.reply()
  },
})
beforeEach(() => {
  Object.assign(identity, { asked: 0, reply: has(name) })
  Object.assign(fixture.context, { sendsPayerName: true })
  Object.assign(fixture.chain, { verified: true, drawn: '3000000' })
})

const topup = (more: object = {}) => ({
  wallet: newWallet(),
  amount: '50000',
  method: 'bank',
  quoteId: fixture.quote(),
  ...more,
})
type Session = { reference_id: string; payer_name: string | null; allowed_payment_channels?: string[] }
async function sessionOf(paymentId: string) {
  const { sessions } = (await fixture.control('book')) as unknown as { sessions: Session[] }
  return sessions.find((one) => one.reference_id === paymentId)!
}

describe("a checkout with the payer's verified name", () => {
  test('by bank transfer in Indonesia carries the name to the provider', async () => {
    const { paymentId } = (await fixture.topup(topup())).ok!
    const settled = (await fixture.settlement({ wallet: newWallet(), quoteId: fixture.quote() })).ok!.paymentId
    for (const id of [paymentId, settled]) expect((await sessionOf(id)).payer_name).toBe('Ratnapayera Wirapayera')
  })

  test('of a person with one name carries that', async () => {
    identity.reply = has({ givenNames: 'Suhartopayera', surname: null })
    const { paymentId } = (await fixture.topup(topup())).ok!
    expect((await sessionOf(paymentId)).payer_name).toBe('Suhartopayera')
  })

  test('leaves the name in no row', async () => {
    await fixture.topup(topup())
    const tables = await fixture.database.read((db) =>
      db.execute<{ name: string }>(
        sql`select format('%I.%I', table_schema, table_name) as name from information_schema.tables
          where table_schema = 'payments' and table_type = 'BASE TABLE'`,
      ),
    )
    expect(tables.length).toBeGreaterThan(5)
    for (const table of tables) {
      const rows = await fixture.database.read((db) =>
        db.execute(sql.raw(`select 1 from ${table.name} one where one::text ilike '%payera%'`)),
      )
      expect([table.name, rows.length]).toEqual([table.name, 0])
    }
  })

  test.each<[string, object, boolean]>([
    ['by card', { method: 'card' }, true],
    ['in Malaysia', { pair: 'USD/MYR' }, true],
    ['without the setting', {}, false],
  ])('is opened without asking for the name %s', async (_, { pair, ...more }: { pair?: string }, isOn) => {
    Object.assign(fixture.context, { sendsPayerName: isOn })
    const quote = pair === 'USD/MYR' ? { quoteId: fixture.quote('USD/MYR', '421') } : {}
    const { paymentId } = (await fixture.topup(topup({ ...more, ...quote }))).ok!
    expect(identity.asked).toBe(0)
    expect((await sessionOf(paymentId)).payer_name).toBeNull()
  })
})

describe.each([
  ['does not respond', silent],
  ['has no name', has(null)],
])('while the identity provider %s', (_, reply) => {
  test('a top-up is refused, and its quote serves a repeated request, or one by card', async () => {
    identity.reply = reply
    const asked = topup()
    expect(await fixture.topup(asked)).toEqual({ refused: 'payer_name_unavailable' })
    expect(await fixture.topup(topup({ method: 'card' }))).toHaveProperty('ok')
    identity.reply = has(name)
    const { paymentId } = (await fixture.topup(asked)).ok!
    expect((await sessionOf(paymentId)).payer_name).toBe('Ratnapayera Wirapayera')
  })

  test('a debt can be paid by the channels that need no name', async () => {
    identity.reply = reply
    const { paymentId } = (await fixture.settlement({ wallet: newWallet(), quoteId: fixture.quote() })).ok!
    const session = await sessionOf(paymentId)
    expect(session.payer_name).toBeNull()
    expect(session.allowed_payment_channels).toEqual(['QRIS', 'CARDS'])
  })
})
