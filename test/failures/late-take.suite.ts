import { beforeAll, describe, expect, test } from 'bun:test'
import { type Address, createTestClient, http } from 'viem'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { groupStack } from '../runner/group'
import { ausdOf, transfersOf } from '../support/ledger'
import { newUser } from '../support/people'
import { answered, cashoutBody, entryIn } from '../support/requests'

let stack: Stack
let outside: ExternalControls
const hasMicro = 20_000_000n
const takenMicro = 5_000_000n

beforeAll(() => {
  stack = groupStack()
  outside = outsideOf(stack.info)
})

/** Moves AUSD by a signature, for which the receiver pays the gas. */
async function move(from: Person, to: Person, micro: bigint) {
  await to.submit(await from.sign({ to: to.wallet, valueMicro: micro }))
}

/**
 * Makes a cash-out fail: no block is mined while it is accepted, and the first one empties the wallet. Returns the
 * signed authorization.
 */
async function failedCashout(person: Person, friend: Person) {
  const chain = createTestClient({ mode: 'anvil', transport: http(stack.info.chain.rpcUrl) })
  const body = await cashoutBody(stack, person, { ausdMicro: takenMicro })
  await chain.setIntervalMining({ interval: 0 })
  const leaving = move(person, friend, hasMicro)
  try {
    await waitUntil('the transfer waiting for a block', async () => (await chain.getTxpoolStatus()).pending > 0)
    const reply = await person.insist('/cashouts', body)
    expect(reply.status).toBe(200)
    await chain.setIntervalMining({ interval: 1 })
    await leaving
    const entry = await entryIn(person, reply.body.payoutId, 'failed')
    expect(entry.reason).toBe('balance_too_low')
    return { authorization: body.authorization, id: reply.body.payoutId as string }
  } finally {
    await chain.setIntervalMining({ interval: 1 })
  }
}

const relayer = () => stack.process('chain-relayer')
const meanwhile: [string, (submit: () => Promise<unknown>) => Promise<unknown>][] = [
  ['while the relayer watches', (submit) => submit()],
  [
    'while the relayer is down',
    async (submit) => {
      await relayer().stop('SIGKILL')
      await submit()
      relayer().start()
    },
  ],
]

describe('a transfer submitted after its cash-out had failed', () => {
  test.each(meanwhile)('%s: the AUSD is returned once, and no bank is paid', async (_, during) => {
    const has = { ausdMicro: hasMicro, wei: 10n ** 18n }
    const [person, friend] = [await newUser(stack, has), await newUser(stack, has)]
    const { authorization, id } = await failedCashout(person, friend)
    await move(friend, person, hasMicro)

    await during(() => friend.submit(authorization))
    const entry = await entryIn(person, id, 'returned')
    expect(entry.reason).toBe('taken_late')
    expect(await ausdOf(stack, person.wallet)).toBe(hasMicro)

    const treasury = stack.info.chain.treasury.toLowerCase() as Address
    const moves = await transfersOf(stack, person.wallet)
    const between = moves.filter(({ from, to }) => from === treasury || to === treasury)
    expect(between.map(({ to, ausdMicro }) => [to, ausdMicro])).toEqual([
      [treasury, takenMicro],
      [person.wallet, takenMicro],
    ])
    const transfers = (await outside.book()).payouts!
    expect(transfers.filter(({ reference_id }) => reference_id === id)).toEqual([])
    const activity = await answered(() => person.get('/me/activity'))
    expect(activity.body.inFlight).toEqual([])
  })
})
