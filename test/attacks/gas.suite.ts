import { beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'nats'
import { type Address, createTestClient, type Hex, http, type LocalAccount } from 'viem'
import { generatePrivateKey, privateKeyToAccount, toAccount } from 'viem/accounts'
import { trickWalletAbi, trickWalletBytecode } from '#infra/contracts/artifacts.gen'
import { outsideOf } from '#infra/demo/external'
import { type Person, personOf } from '#infra/demo/person'
import { laneKeys } from '#infra/local/environment'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { pause } from '#platform/deadline'
import { chainOf } from '#shared/chain/client'
import { idFor } from '#shared/ids'
import { groupStack } from '../runner/group'
import { ausdOf, readerOf } from '../support/ledger'
import { fund, newCaller, verifiedUser } from '../support/people'
import { answered, cashoutBody, entryIn } from '../support/requests'
import { type broken, explained, happens, openBooks, stolen } from './fixture'

let stack: Stack

beforeAll(() => {
  stack = groupStack()
})

const lanes = laneKeys.map((key) => privateKeyToAccount(key).address.toLowerCase())
const anybody = () => privateKeyToAccount(generatePrivateKey()).address

async function watchGas() {
  const reader = readerOf(stack)
  const from = await reader.getBlockNumber()
  return async (): Promise<number> => {
    let reverted = 0
    const to = await reader.getBlockNumber()
    for (let blockNumber = from + 1n; blockNumber <= to; blockNumber++) {
      const { transactions } = await reader.getBlock({ blockNumber, includeTransactions: true })
      for (const { hash, from } of transactions) {
        if (!lanes.includes(from.toLowerCase())) continue
        if ((await reader.getTransactionReceipt({ hash })).status === 'reverted') reverted++
      }
    }
    return reverted
  }
}

const statusesOf = async (person: Person, ids: readonly string[]): Promise<string[]> => {
  const { items } = (await answered(() => person.get('/me/activity?limit=100'))).body
  const found = items.filter(({ id }: { id: string }) => ids.includes(id))
  return found.map(({ status }: { status: string }) => status).sort()
}

describe('a send whose gas the relayer pays', () => {
  let person: Person
  beforeAll(async () => {
    person = await verifiedUser(stack, { ausdMicro: 20_000_000n })
  })

  const places = [
    ['the credit line', 'creditLine', 'This address cannot receive AUSD.'],
    ['the treasury', 'treasury', 'This address cannot receive AUSD.'],
    ['the token', 'ausd', 'This address cannot receive AUSD.'],
  ] as const

  test.each(places)('is refused if it moves AUSD to %s', async (_, place, error) => {
    const to = stack.info.chain[place] as Address
    const authorization = await person.sign({ to, valueMicro: 1_000_000n })
    const reply = await person.insist('/sends', { authorization })
    expect({ status: reply.status, body: reply.body }).toEqual({ status: 400, body: { error } })
  })

  test('is refused if its authorization would expire before a block includes it', async () => {
    const terms = { to: anybody(), valueMicro: 1_000_000n }
    const authorization = await person.sign({ ...terms, validForSeconds: 59 })
    const reply = await person.insist('/sends', { authorization })
    expect({ status: reply.status, body: reply.body }).toEqual({
      status: 400,
      body: { error: 'authorization.validBefore must be at least 60 seconds in the future' },
    })
  })
})

describe('the balance of a wallet', () => {
  test('pays one of eight cash-outs that are requested at once', async () => {
    const person = await verifiedUser(stack, { ausdMicro: 5_000_000n })
    const revertedSoFar = await watchGas()
    const bodies = await Promise.all(Array.from({ length: 8 }, () => cashoutBody(stack, person)))
    const replies = await Promise.all(bodies.map((body) => person.insist('/cashouts', body)))
    const accepted = replies.filter(({ status }) => status === 200)
    const ids = accepted.map(({ body }) => body.payoutId)
    await waitUntil('the end of all', async () => {
      const statuses = await statusesOf(person, ids)
      return statuses.length > 0 && statuses.every((one) => ['paid', 'failed'].includes(one))
    })
    const paid = (await statusesOf(person, ids)).filter((one) => one === 'paid')
    expect({ paid: paid.length, ausdMicro: await ausdOf(stack, person.wallet) }).toEqual({
      paid: 1,
      ausdMicro: 0n,
    })
    expect(await revertedSoFar()).toBe(0)
  })
})

/** Deploys a contract wallet that accepts any "signature". */
async function trickster(tell: number, lane = lanes[0]!) {
  const { deploy } = await newCaller(stack)
  const address = await deploy(trickWalletAbi, trickWalletBytecode, [tell, lane])
  await fund(stack, address, { ausdMicro: 20_000_000n, wei: 0n })
  const nothing = async (): Promise<Hex> => `0x${'00'.repeat(96)}`
  const signer: LocalAccount = toAccount({
    address,
    signMessage: nothing,
    signTypedData: nothing,
    signTransaction: () => Promise.reject(new Error('a contract sends no transactions')),
  })
  const person = personOf(stack.info, signer)
  await outsideOf(stack.info).identity(person.wallet, 'approved')
  await person.until('verification', (me) => me.verified)
  return person
}

describe('a contract wallet that would burn the gas of its transactions', () => {
  const tells = [
    ['by the gas price it pays', 0, lanes[0]],
    ['when it is sent by the first lane', 1, lanes[1]],
    ['when it is sent by the second lane', 1, lanes[0]],
    ['by the gas it is given', 2, lanes[0]],
  ] as const

  test.concurrent.each(tells)('burns none, although it recognises a transaction %s', async (_, tell, lane) => {
    const person = await trickster(tell, lane)
    const revertedSoFar = await watchGas()
    const to = anybody()
    const sends = await Promise.all(
      [1, 2, 3].map(async () => {
        const authorization = await person.sign({ to, valueMicro: 1_000_000n })
        const reply = await person.insist('/sends', { authorization })
        return reply.status === 200 ? reply.body.sendId : undefined
      }),
    )
    for (const id of sends) if (id) await entryIn(person, id, 'sent', 'failed')
    expect(await revertedSoFar()).toBe(0)
  })
})

const blockMs = 300

/**
 * Makes blocks with a transaction have a proposer that the wallets refuse, and all others one that they accept, so that
 * simulations succeed.
 */
async function choosingProposers() {
  const { rpcUrl, chainId } = stack.info.chain
  const client = createTestClient({
    mode: 'anvil',
    chain: chainOf(chainId),
    transport: http(rpcUrl),
  })
  const proposer = (liked: boolean) => client.setCoinbase({ address: `0x${'00'.repeat(19)}${liked ? '02' : '01'}` })
  const stop = new AbortController()
  const block = () => client.mine({ blocks: 1 })
  await client.setIntervalMining({ interval: 0 })
  await proposer(true)
  const choosing = (async () => {
    let minedAt = 0
    while (!stop.signal.aborted) {
      if ((await client.getTxpoolStatus()).pending > 0) {
        await proposer(false)
        await block()
        await proposer(true)
      }
      if (Date.now() - minedAt > blockMs) {
        await block()
        minedAt = Date.now()
      }
      await pause(20)
    }
  })()
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await choosing
      await client.setIntervalMining({ interval: 1 })
    },
  }
}

const alarmsOf = (service: string) =>
  readFileSync(join(stack.dir, 'logs', `${service}.log`), 'utf8')
    .split('\n')
    .filter((line) => line.includes('"alarm":true'))
    .map((line) => JSON.parse(line) as { msg: string; operationId?: string })

describe('a contract wallet that accepts only one block proposer', () => {
  /** Most tries. A transaction sent just before an empty block may be included in it and not revert. */
  const triesMax = 20
  const budgetSpent = {
    status: 429,
    body: {
      error: 'Too many transfers today. Try again after midnight in Jakarta.',
    },
  }

  type Reply = Awaited<ReturnType<Person['post']>>

  async function insist(person: Person, ask: () => Promise<Reply>) {
    const ends: string[] = []
    let reply = await ask()
    while (reply.status === 200 && ends.length < triesMax) {
      const id = reply.body.payoutId ?? reply.body.sendId
      ends.push((await entryIn(person, id, 'paid', 'sent', 'failed')).status)
      reply = await ask()
    }
    return { failed: ends.filter((one) => one === 'failed').length, reply }
  }

  const to = anybody()
  const ways = [
    [
      'cash-out',
      async (person: Person) => person.insist('/cashouts', await cashoutBody(stack, person, { ausdMicro: 1_000_000n })),
    ],
    [
      'send',
      async (person: Person) =>
        person.insist('/sends', { authorization: await person.sign({ to, valueMicro: 10_000n }) }),
    ],
  ] as const

  test.each(ways)('runs out of its gas budget after at most three reverts of a %s', async (_, ask) => {
    const person = await trickster(3)
    const revertedSoFar = await watchGas()
    const before = alarmsOf('chain-relayer').length
    await using _choosing = await choosingProposers()
    const { failed, reply } = await insist(person, () => ask(person))
    const reverted = await revertedSoFar()
    expect(reverted).toBeLessThanOrEqual(3)
    expect({ status: reply.status, body: reply.body }).toEqual(budgetSpent)
    expect(Number(reply.headers.get('Retry-After'))).toBeGreaterThan(2)
    // Each wallet gets one attempt without an alarm; a wallet that exhausts its budget raises one.
    expect(failed).toBe(reverted)
    const called = alarmsOf('chain-relayer').slice(before)
    expect(called.map(({ msg }) => msg)).toEqual(['wallet exceeded its daily gas budget'])
  })
})

describe('a compromised service with its own permissions', () => {
  async function ordering(user: (typeof broken)[number], subject: string, payload: object) {
    const { url } = stack.info.nats
    const inboxPrefix = `_INBOX_${user}`
    const nc = await connect({ servers: url, user, pass: stolen(user), inboxPrefix })
    try {
      await nc.jetstream().publish(subject, JSON.stringify(payload))
    } finally {
      await nc.close()
    }
  }
  const newRefId = () => idFor('payment', crypto.randomUUID())
  const order = (person: Person, ausd: bigint) => ({
    refId: newRefId(),
    wallet: person.wallet,
    ausd: String(ausd),
    held: false,
  })

  test('cannot have a million credited, repaid or given back', async () => {
    const person = await verifiedUser(stack)
    const books = await openBooks(stack, person)
    const refused = () => alarmsOf('chain-relayer').filter(({ msg }) => /^policy refused/.test(msg))
    const before = refused().length
    const paidAt = String(Math.floor(Date.now() / 1_000))
    const million = 1_000_000_000_000n
    await ordering('payments', 'relay.credit', order(person, million))
    await ordering('payments', 'relay.repay', { ...order(person, million), paidAt })
    const { wallet } = person
    const back = { payoutId: crypto.randomUUID(), wallet, ausd: String(million) }
    await ordering('payouts', 'relay.return', back)
    const told = await happens(waitUntil('an alarm for each', () => refused().length === before + 3))
    expect(await books.close()).toEqual(explained)
    expect(told).toBe(true)
  })

  const foreign = [
    ['relay.return', { payoutId: crypto.randomUUID(), ausd: '1000000' }],
    ['relay.drip', {}],
    ['relay.verify', { verified: true, revision: '9999999999999' }],
  ] as const
  test.each(foreign)('cannot order what belongs to another service: %s', async (subject, payload) => {
    const wallet = anybody()
    const asked = ordering('payments', subject, { ...payload, wallet })
    await expect(asked).rejects.toThrow(/Permissions Violation for Publish|TIMEOUT/)
  })
})
