import { describe, expect, test } from 'bun:test'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { personReads } from '#shared/messages/person'
import { errorOf, fixtureOf, okay, type Replies, refusing } from '../test-support/fixture'
import { ana, budi, headerOf, walletOf } from '../test-support/wallets'

type ExportRequest = { wallet: string; after?: { table: string; key: string[] } }
type Body = { wallet: string; rows: { table: string; values: Record<string, unknown> }[] }

const none = okay({ rows: [], next: null })
const quiet: Replies = Object.fromEntries(Object.values(personReads).map(({ subject }) => [subject, none]))
const get = async (fixture: Awaited<ReturnType<typeof fixtureOf>>, who = ana) =>
  fixture.call('GET', '/me/export', { headers: { authorization: await headerOf(who) } })

const paged =
  (pages: number) =>
  ({ wallet, after }: ExportRequest) => {
    const number = after ? Number(after.key[0]) + 1 : 0
    const row = { table: 'payments.payments', values: { wallet, ausd_micro: String(number) } }
    const key = [String(number)]
    const next = number + 1 < pages ? { table: 'payments.payments', key } : null
    return { ok: { rows: [row], next } }
  }

describe('GET /me/export', () => {
  test('returns every page of every service as one document, with the names of the interface', async () => {
    const fixture = await fixtureOf({ ...quiet, 'payments.person.read': paged(300) })
    const response = await get(fixture)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
    const { wallet, rows } = (await response.json()) as Body
    expect(wallet).toBe(walletOf(ana))
    expect(rows).toHaveLength(300)
    expect(rows.at(-1)).toEqual({
      table: 'payments.payments',
      values: { wallet, ausdMicro: '299' },
    })
  })

  test('asks every service only about the wallet that signed', async () => {
    const fixture = await fixtureOf(quiet)
    await (await get(fixture, budi)).text()
    const asked = Object.values(personReads).map(({ subject }) => [subject, { wallet: walletOf(budi) }])
    expect(fixture.asked.toSorted()).toEqual(asked.toSorted() as [string, unknown][])
  })

  test('answers 503, and never a part of the rows, while one service is down', async () => {
    const { 'payouts.person.read': _, ...without } = quiet
    const response = await get(await fixtureOf(without))
    expect(response.status).toBe(503)
    const refused = await get(await fixtureOf({ ...quiet, 'chain.person.read': refusing('provider_unavailable') }))
    expect(refused.status).toBe(503)
  })

  test('does not count towards the daily limit when it answers 503', async () => {
    const replies: Replies = { ...quiet, 'chain.person.read': refusing('provider_unavailable') }
    const fixture = await fixtureOf(replies)
    for (let count = 0; count < 6; count++) expect((await get(fixture)).status).toBe(503)
    replies['chain.person.read'] = none
    expect((await get(fixture)).status).toBe(200)
  })

  test('ends with an invalid document if a service fails after the first page', async () => {
    const replies = {
      ...quiet,
      'payments.person.read': (asked: ExportRequest) =>
        asked.after ? { refused: 'provider_unavailable' } : paged(2)(asked),
    }
    await expect((await get(await fixtureOf(replies))).text()).rejects.toThrow()
  })

  test('is refused after 5 exports of a wallet a day, and another wallet is not', async () => {
    const fixture = await fixtureOf(quiet)
    for (let count = 0; count < 5; count++) await (await get(fixture)).text()
    const response = await get(fixture)
    expect([response.status, response.headers.get('x-error-code')]).toEqual([429, 'export_limit_reached'])
    expect(Number(response.headers.get('retry-after'))).toBe(17_280)
    expect(await errorOf(response)).toBe('Too many exports today. Try again later.')
    expect((await get(fixture, budi)).status).toBe(200)
  })

  test('sends 16 exports at a time, reads on only as the client does, and frees the slot of a client that leaves', async () => {
    const fixture = await fixtureOf({ ...quiet, 'payments.person.read': paged(1_000) })
    const open: Response[] = []
    const people = Array.from({ length: 16 }, () => privateKeyToAccount(generatePrivateKey()))
    for (const one of people) open.push(await get(fixture, one))
    expect((await get(fixture, budi)).status).toBe(503)
    const before = fixture.asked.length
    expect(before).toBe(16 * Object.keys(personReads).length)
    await open[0]!.body!.cancel()
    expect((await get(fixture, budi)).status).toBe(200)
  })
})
