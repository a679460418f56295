import { beforeAll, expect, test } from 'bun:test'
import { openVisitor } from '#shared/client/client'
import { okOf } from '#shared/client/refusal'
import { newUser, verifiedUser } from '../support/people'
import { cashoutBody } from '../support/requests'
import { sharedStack } from '../support/stack'

// The app knows only the gateway's address.

let stack: Awaited<ReturnType<typeof sharedStack>>
let config: Awaited<ReturnType<typeof read>>
const read = async () => okOf(await openVisitor({ baseUrl: stack.info.gateway }).config())
beforeAll(async () => {
  stack = await sharedStack()
  config = await read()
})

test("GET /config has the deployed contracts, and the token's own domain", () => {
  const { chainId, ausd, creditLine, treasury } = stack.info.chain
  const lower = (address: string) => address.toLowerCase()
  expect(config.chain.chainId).toBe(chainId)
  expect([config.chain.ausd.address, config.chain.creditLine, config.chain.treasury]).toEqual(
    [ausd, creditLine, treasury].map(lower) as never,
  )
  expect(config.chain.ausd).toMatchObject({
    decimals: 6,
    domain: { name: 'Agora Dollar', version: '1', chainId },
  })
})

test('GET /config names only banks that can be paid, with their limits', async () => {
  const { banks, min } = config.cashouts
  expect(banks.length).toBeGreaterThan(5)
  const person = await newUser(stack, { ausdMicro: 20_000_000n, wei: 10n ** 18n })
  const bank = banks.find(({ code }) => code === 'ID_BCA')!
  expect(bank).toMatchObject({ name: expect.stringMatching(/[A-Za-z]{3}/), increment: '1' })
  const accountNumber = '1'.repeat(bank.accountNumber.digitsMax)
  expect(accountNumber).toMatch(new RegExp(bank.accountNumber.pattern))
  const paid = okOf(await person.api.cashOut(await cashoutBody(stack, person, { accountNumber })))
  expect(BigInt(paid.fiat)).toBeGreaterThanOrEqual(BigInt(min))
})

test('the minimum of a top-up is accepted, and one unit less is refused', async () => {
  const person = await verifiedUser(stack)
  for (const { pair, topup } of config.currencies) {
    const quoteId = async () => okOf(await person.api.quote(pair)).id
    const tried = async (amount: bigint) =>
      person.api.topUp({ amount: `${amount}`, method: 'qr', quoteId: await quoteId() })
    const least = BigInt(topup.min)
    expect(await tried(least - 1n)).toMatchObject({
      refused: { code: expect.stringContaining('amount_below_minimum') },
    })
    expect(okOf(await tried(least)).fiat).toBe(topup.min)
  }
})
