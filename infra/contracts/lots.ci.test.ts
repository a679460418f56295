import { afterAll, expect, test } from 'bun:test'
import { actionsOn, ausd } from '#test/support/contract-actions'
import { actors, openContractsFixture } from '#test/support/contracts'
import { call, gasOn, type Measured, op, show } from '#test/support/gas'

const holdSeconds = 3_000
/** Distance between two ends of a hold, in seconds. */
const step = 200n
const buckets = 16
const fixture = await openContractsFixture({ holdSeconds })
const { act, now, at } = actionsOn(fixture)
const { measure, many } = gasOn(fixture)
afterAll(fixture.close)

const { creditLine } = fixture.deployment
const relayer = actors.relayer.address
const users = { ana: { lots: 4_992, first: 10_000 }, budi: { lots: 32, first: 1_000 } } as const
type User = keyof typeof users

const start = (await now()) + step
for (let bucket = 0; bucket < buckets; bucket++) {
  await at(start + BigInt(bucket) * step)
  for (const user of ['ana', 'budi'] as const) {
    const { lots, first } = users[user]
    const size = lots / buckets
    const ops = Array.from({ length: size }, (_, index) =>
      op('heldTopUp', first + bucket * size + index, actors[user].address, ausd('1')),
    )
    for (let from = 0; from < size; from += 52) await many(ops.slice(from, from + 52))
  }
}

async function compare(name: string, of: (user: User) => Promise<Measured>) {
  const measured: Record<string, Measured> = {}
  for (const user of ['budi', 'ana'] as const) {
    await fixture.checkpoint()
    measured[user] = await of(user)
    show(`${name} with ${users[user].lots} held top-ups`, measured[user], 0n)
    await fixture.rewind()
  }
  expect([name, measured.ana]).toEqual([name, measured.budi!])
}

async function costOfReading(user: User): Promise<Measured> {
  const data = call('accountOf', [actors[user].address])
  const gas = await fixture.client.estimateGas({ account: relayer, to: creditLine, data })
  return { gas, monad: gas, proxy: 0n }
}

test('an account with 5,000 held top-ups costs as much gas as one with 32', async () => {
  const lastOf = (user: User) => users[user].first + users[user].lots - 1
  const relay = (user: User, name: string, args: readonly unknown[]) =>
    measure(relayer, creditLine, call(name, [op('topUp', lastOf(user), relayer).ref, ...args]))
  await compare('accountOf', costOfReading)
  await compare('revokeTopUp', (user) => relay(user, 'revokeTopUp', [0n]))
  await compare('extendHold', async (user) => {
    await fixture.warp(Number(step))
    return await relay(user, 'extendHold', [])
  })
  for (const held of [true, false]) {
    await compare(`topUp, held ${held}`, (user) => {
      const { ref } = op('topUp', 1, relayer)
      const data = call('topUp', [ref, actors[user].address, ausd('1'), held])
      return measure(relayer, creditLine, data)
    })
  }

  await fixture.warp(2 * holdSeconds)
  await compare('accountOf, all released', costOfReading)
  for (const name of ['draw', 'withdrawCollateral'] as const) {
    await compare(name, (user) => {
      const data = call(name, [ausd('1'), actors.citra.address])
      return measure(actors[user].address, creditLine, data)
    })
  }
  await act('withdraw', ausd('4992'))
  expect((await fixture.accountOf('ana')).collateral).toBe(0n)
})
