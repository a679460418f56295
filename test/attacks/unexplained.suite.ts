import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import postgres, { type Sql } from 'postgres'
import { type Address, type Hex, parseEventLogs } from 'viem'
import type { Person } from '#infra/demo/person'
import { repositoryDir } from '#infra/local/folders'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { checkBooks } from '#infra/operations/books/reconcile'
import { placeOf } from '#infra/operations/place'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { groupStack } from '../runner/group'
import { booksClose } from '../support/books'
import { creditedTopUp } from '../support/flows'
import { ausdOf, readerOf, transfersOf } from '../support/ledger'
import { newUser, verifiedUser } from '../support/people'
import { cashoutBody, entryIn } from '../support/requests'
import { operate } from '../support/stack'
import { explained, openBooks, withdrawCollateral } from './fixture'

let stack: Stack
let sql: Sql
let thief: Person
beforeAll(async () => {
  stack = groupStack()
  sql = postgres(stack.adminUrl, { max: 2, onnotice: () => {} })
  thief = await newUser(stack, { wei: 10n ** 18n })
})
afterAll(() => sql?.end({ timeout: 1 }))

const hasMicro = 20_000_000n
const lostMicro = 5_000_000n
const treasury = () => stack.info.chain.treasury.toLowerCase() as Address

async function ops(...words: string[]) {
  const { code, said, complaint } = await operate(stack, 'unexplained', ...words)
  return { code, told: `${said}${complaint}` }
}
const giveBack = (name: string, by = 'sari') => ops('return', name, '--reason', 'ticket 12', '--by', by)

/** Requests a return until it is done, because the relayer may be late or down; the return happens once. */
const giveBackInTheEnd = (name: string, by = 'sari') => toldInTheEnd(name, /, returned in 0x/, by)
const toldInTheEnd = (name: string, end: RegExp, by?: string) =>
  waitUntil(`an answer with ${end}`, async () => {
    const answer = await giveBack(name, by)
    return end.test(answer.told) && answer
  })

/** Returns the name `<transaction>:<log>` of the transfer to this address. */
async function transferTo(to: Address, hash: Hex): Promise<string> {
  const { logs } = await readerOf(stack).getTransactionReceipt({ hash })
  const transfers = parseEventLogs({ abi: ausdAbi, eventName: 'Transfer', logs })
  const found = transfers.find(({ args }) => args.to.toLowerCase() === to)
  return `${hash}:${found!.logIndex}`
}

/** Signs a cash-out whose transfer is submitted on chain first, so that the treasury holds AUSD without a row. */
async function rob(person: Person) {
  const body = await cashoutBody(stack, person, { ausdMicro: lostMicro })
  const { transactionHash, blockNumber } = await thief.submit(body.authorization)
  const reply = await person.insist('/cashouts', body)
  expect([reply.status, reply.body.error]).toEqual([400, 'authorization.nonce has already been used or cancelled'])
  const name = await transferTo(treasury(), transactionHash)
  await sql`
    insert into books.chain_moves
      (tx_hash, log_index, block, moved_at, kind, key, wallet, ausd_micro)
    values (${transactionHash}, ${Number(name.split(':')[1])}, ${String(blockNumber)}, now(), 'in',
      ${`${person.wallet}:${body.authorization.nonce}`}, ${person.wallet}, ${String(lostMicro)})
    on conflict do nothing`
  return { person, name }
}
const robbed = async () => rob(await verifiedUser(stack, { ausdMicro: hasMicro }))

/** Returns the transfers between wallet and treasury in chain order. */
async function between(person: Person) {
  const moves = await transfersOf(stack, person.wallet)
  return moves
    .filter(({ from, to }) => from === treasury() || to === treasury())
    .map(({ to, ausdMicro }) => [to === treasury() ? 'came' : 'went back', ausdMicro])
}
const once = [
  ['came', lostMicro],
  ['went back', lostMicro],
]
const isBack = (person: Person) =>
  waitUntil('the AUSD being back', async () => (await ausdOf(stack, person.wallet)) === hasMicro)
const journalOf = async (name: string) => {
  const rows = await sql<{ account: string; amount: string }[]>`
    select account, amount::text from chain_relayer.journal where item = ${name} order by line`
  return rows.map(({ account, amount }) => [account, amount])
}
const booked = [
  ['suspense', String(lostMicro)],
  ['treasury', String(-lostMicro)],
]

describe('a signed cash-out that is submitted on chain before it is requested', () => {
  test('is refused; its AUSD is found, and an operator returns it once', async () => {
    const person = await verifiedUser(stack, { ausdMicro: hasMicro })
    const books = await openBooks(stack, person)
    const victim = await rob(person)
    const before = await ops('list')
    expect(before.code).toBe(1)
    const found = await checkBooks(placeOf(stack.info), stack.adminUrl, {
      checksMax: 1,
      betweenMs: 0,
    })
    expect(found.join()).toContain(`treasury_moved ${victim.name} ${lostMicro} AUSD: in of ${lostMicro}, `)
    expect(before.told).toContain(`${victim.person.wallet}  5.000000 AUSD  ${victim.name}  no return requested`)

    const first = await giveBackInTheEnd(victim.name)
    expect(first.told).toMatch(
      /^return requested by sari \(ticket 12\), returned in 0x[0-9a-f]{64}( \(already done by sari, .*)?$/,
    )
    expect(first.code).toBe(0)
    const again = await giveBackInTheEnd(victim.name, 'dewi')
    expect(again.told).toMatch(/^return requested by sari .*, returned in 0x\w+ \(already done by sari, /)
    expect((await ops('list')).told).not.toContain(victim.name)
    await isBack(victim.person)
    expect(await between(victim.person)).toEqual(once)
    expect(await journalOf(victim.name)).toEqual(booked)
    expect(await books.close()).toEqual(explained)
    expect(await checkBooks(placeOf(stack.info), stack.adminUrl)).toEqual([])
  })

  // The boundaries between these two are those of every order, at which the engine `crashes` kills the relayer.
  test.each(['chain-relayer:operation-stored', 'chain-relayer:final-before-commit'])(
    'is returned once when two operators ask at once and the relayer dies at %s',
    async (boundary) => {
      const { person, name } = await robbed()
      const file = stack.failpointFile('chain-relayer')
      writeFileSync(file, boundary)
      const answers = Promise.all([giveBackInTheEnd(name), giveBackInTheEnd(name, 'dewi')])
      await isBack(person)
      await answers
      await waitUntil('the end being in the books', async () => (await journalOf(name)).length > 0)
      expect(existsSync(file)).toBe(false)
      expect((await giveBackInTheEnd(name)).code).toBe(0)
      expect(await between(person)).toEqual(once)
      expect(await journalOf(name)).toEqual(booked)
    },
  )

  test('is returned once when it was requested while the relayer was down, and two instances start', async () => {
    const victims = [await robbed(), await robbed()]
    const relayer = stack.process('chain-relayer')
    await using _copy = await anotherRelayer()
    await relayer.stop('SIGKILL')
    const answers = victims.map(({ name }) => giveBackInTheEnd(name))
    relayer.start()
    for (const { person } of victims) await isBack(person)
    await Promise.all(answers)
    for (const { person, name } of victims) {
      await waitUntil('the end being in the books', async () => (await journalOf(name)).length > 0)
      expect(await between(person)).toEqual(once)
      expect(await journalOf(name)).toEqual(booked)
    }
  })
})

async function anotherRelayer(): Promise<AsyncDisposable> {
  const pid = stack.process('chain-relayer').pid()
  const words = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean)
  const env = words.map((word) => [word.split('=')[0]!, word.slice(word.indexOf('=') + 1)])
  const child = Bun.spawn([process.execPath, 'services/chain-relayer/main.ts'], {
    cwd: repositoryDir,
    env: Object.fromEntries(env),
    // The relayer exits when this pipe is closed.
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const told: string[] = []
  const read = new WritableStream<Uint8Array>({
    write: (chunk) => void told.push(new TextDecoder().decode(chunk)),
  })
  void child.stdout.pipeTo(read)
  await waitUntil('the other copy being ready', () => told.join('').includes('service ready'))
  return {
    [Symbol.asyncDispose]: async () => {
      child.kill()
      await child.exited
    },
  }
}

describe('security: a request to return AUSD that is not owed', () => {
  test('returns nothing for a transfer that a cash-out took and the bank was paid for', async () => {
    const person = await verifiedUser(stack, { ausdMicro: hasMicro })
    const reply = await person.insist('/cashouts', await cashoutBody(stack, person, { ausdMicro: lostMicro }))
    await entryIn(person, reply.body.payoutId, 'paid')
    const [taken] = await transfersOf(stack, person.wallet)
    const name = await transferTo(treasury(), taken!.txHash as Hex)
    const { code, told } = await toldInTheEnd(name, /, refused: /)
    expect(code).toBe(1)
    expect(told).toContain(`refused: it was taken for cash-out ${reply.body.payoutId}`)
    expect(await between(person)).toEqual([['came', lostMicro]])
  })

  test.each([
    ['no reason', ['return', `0x${'12'.repeat(32)}:0`]],
    ['a reason of blanks', ['return', `0x${'12'.repeat(32)}:0`, '--reason', ' ']],
    ['no log', ['return', `0x${'12'.repeat(32)}`, '--reason', 'ticket 12']],
    ['a sum', ['return', `0x${'12'.repeat(32)}:0`, '9000000', '--reason', 'ticket 12']],
    ['another verb', ['constructor']],
  ])('writes nothing with %s', async (_, words) => {
    const count = () => sql`select count(*)::int as asked from chain_relayer.giveback_request`
    const before = await count()
    const { code, told } = await ops(...words)
    expect(code).toBe(2)
    expect(told).toMatch(/^(usage:|subcommands:)/)
    expect(await count()).toEqual(before)
  })
})

describe('a credited top-up that its user wants back', () => {
  test('is refunded once its AUSD has come back, and not before', async () => {
    const person = await verifiedUser(stack, { wei: 10n ** 19n })
    const [topup, other] = [await creditedTopUp(stack, person), await creditedTopUp(stack, person)]
    const topups = async (...words: string[]) => {
      const { said, complaint } = await operate(stack, 'topups', ...words)
      return `${said}${complaint}`
    }
    const refund = (id: string, name: string) => topups('refund', id, name, '--reason', 'ticket 13', '--by', 'sari')
    expect(await topups('show', topup.id)).toContain(`ask the user to transfer the AUSD from ${person.wallet}`)

    await withdrawCollateral(stack, person, topup.micro)
    const back = await person.sign({ to: treasury(), valueMicro: topup.micro })
    const name = await transferTo(treasury(), (await person.submit(back)).transactionHash)
    const shown = await waitUntil('the transfer in the books', async () => {
      await operate(stack, 'reconcile')
      const text = await topups('show', topup.id)
      return text.includes(name) && text
    })
    expect(shown).toContain(`next: unexplained accept ${name}`)
    expect(await refund(topup.id, name)).toContain(`may be returned: first unexplained accept ${name}`)
    expect((await ops('accept', name, '--reason', `AUSD of ${topup.id}`, '--by', 'sari')).code).toBe(0)
    expect(await topups('show', topup.id)).toContain(`topups refund ${topup.id} ${name}`)

    expect(await refund(topup.id, name)).toContain(`${topup.id}: refund to the payer ordered: Rp 50,000`)
    expect(await refund(topup.id, name)).toContain('already done by sari')
    expect(await refund(other.id, name)).toContain(`was used for ${topup.id}`)
    await entryIn(person, topup.id, 'accepted')
    expect((await giveBack(name)).told).toContain('was accepted as capital')
    const reopened = await ops('reopen', name, '--reason', 'ticket 13', '--by', 'sari')
    expect(reopened.told).toContain(`${topup.id} was refunded because`)
    expect((await operate(stack, 'wallets', 'list')).said).not.toContain(person.wallet)
  })
})

test('after the returns the books balance', () => booksClose(stack))
