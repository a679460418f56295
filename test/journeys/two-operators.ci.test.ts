import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres, { type Sql } from 'postgres'
import { privateKeyToAccount } from 'viem/accounts'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { findProposal } from '#infra/operations/audit-log/proposals'
import { accessOf, openOperator } from '#infra/operations/cli/operator'
import { ReviewResolve } from '#shared/messages/payments'
import { booksClose } from '../support/books'
import { verifiedUser } from '../support/people'
import { entryIn, openCheckout } from '../support/requests'
import { type Operated, operate, ownStack } from '../support/stack'

const keys = { alice: '1', bob: '2', carol: '3', dave: '4', mallory: '5' } as const
type Name = keyof typeof keys
const key = (name: Name) => `0x${keys[name].repeat(64)}` as const
const named = (...names: Name[]) => names.map((name) => `${name}:${privateKeyToAccount(key(name)).address}`).join(',')

/** A payment of Rp 50,000 is worth 3.1 AUSD, so one is below the sum, and two are above. */
const settings = { OPERATORS: named('alice', 'bob', 'carol'), TWO_OPERATORS_ABOVE_AUSD: '5' }

let stack: Stack
let outside: ExternalControls
let sql: Sql
let person: Person
let folder: string
beforeAll(async () => {
  const env = { gateway: settings, payments: settings, payouts: settings, 'chain-relayer': settings }
  stack = await ownStack({ env })
  outside = outsideOf(stack.info)
  sql = postgres(stack.adminUrl, { max: 1, onnotice: () => {} })
  person = await verifiedUser(stack)
  folder = mkdtempSync(join(tmpdir(), 'operators-'))
  for (const name of Object.keys(keys) as Name[]) writeFileSync(join(folder, name), key(name), { mode: 0o600 })
})
afterAll(async () => {
  await sql?.end({ timeout: 1 })
  await stack?.[Symbol.asyncDispose]()
  if (folder) rmSync(folder, { recursive: true })
})

/** Runs a command with the key of an operator, in an environment that still names dave. */
async function ops(who: Name | undefined, ...words: string[]): Promise<Operated & { told: string }> {
  const own = {
    ...settings,
    OPERATORS: named('alice', 'bob', 'carol', 'dave'),
    ...(who && { OPERATOR_KEY_FILE: join(folder, who) }),
  }
  Object.assign(process.env, own)
  try {
    const operated = await operate(stack, ...words)
    return { ...operated, told: `${operated.said}${operated.complaint}` }
  } finally {
    for (const name of Object.keys(own)) delete process.env[name]
  }
}
const because = ['--reason', 'ticket 12']
const refund = (who: Name | undefined, id: string) => ops(who, 'review', 'resolve', id, 'refund', ...because)
const idIn = (told: string) => /ops approve ([0-9a-f-]{36})/.exec(told)![1]!

/** Looks at a proposal, and approves what was shown. */
async function approve(who: Name, command: string) {
  const { told } = await ops(who, 'approve', command)
  const code = /ops approve [0-9a-f-]{36} ([0-9a-f]{12}) --apply/.exec(told)?.[1]
  return ops(who, 'approve', command, ...(code ? [code] : []), '--apply')
}

/** Returns a payment in review, which the user paid Rp 1,000 short. */
async function inReview(amount: string): Promise<string> {
  const { paymentId: id } = await openCheckout(person, { amount })
  await outside.control(`sessions/${id}/pay`, { channel_code: 'DANA', amount: Number(amount) - 1_000 })
  await waitUntil('the review', async () => (await ops(undefined, 'review', 'show', id)).said.includes('topup review'))
  return id
}
const refundsOf = async (id: string) => {
  const { refunds } = await outside.book()
  return refunds!.filter(({ reference_id: of }) => of?.startsWith(`ordered-${id}`)).length
}
const auditOf = (target: string) => sql<{ by: string; outcome: string; said: string }[]>`
  select d.asked_by as by, o.outcome, o.said from ops.commands d
  left join ops.outcomes o on o.command_id = d.id where d.target = ${target} order by o.id`

describe('below the sum', () => {
  test('one operator is enough, under the name that the key proves', async () => {
    const id = await inReview('50000')
    expect((await refund(undefined, id)).told).toContain('set OPERATOR_KEY_FILE')
    expect((await refund('mallory', id)).told).toContain('which OPERATORS does not name')
    expect((await ops('alice', 'review', 'resolve', id, 'refund', ...because, '--by', 'bob')).told).toContain(
      '--by is bob, but the key in OPERATOR_KEY_FILE is that of alice',
    )
    expect(await refund('dave', id)).toMatchObject({
      code: 1,
      said: 'refused: dave is not an operator of this deployment',
    })
    const { code, said } = await refund('alice', id)
    expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining('refund to the payer ordered') })
    expect((await auditOf(id)).at(-1)).toMatchObject({ outcome: 'done' })
    await entryIn(person, id, 'refunded')
  })

  test('a command that gives nothing away needs one signature, and a request without any is refused', async () => {
    const wallet = person.wallet.toLowerCase()
    expect(await ops('carol', 'wallets', 'freeze', wallet, ...because)).toMatchObject({ code: 0 })
    expect(await ops('carol', 'wallets', 'unfreeze', wallet, ...because)).toMatchObject({ code: 0 })
    expect((await auditOf(wallet)).map(({ by }) => by)).toEqual(['carol', 'carol'])
    const id = await inReview('20000')
    await using operator = openOperator(accessOf(stack.info))
    const request = {
      command: crypto.randomUUID(),
      by: 'alice',
      reason: 'no key',
      paymentId: id,
      resolution: 'refund',
    } as const
    expect(await operator.ask(ReviewResolve, request)).toMatchObject({
      ok: { refused: expect.stringContaining('an operator must sign it') },
    })
    expect(await refund('bob', id)).toMatchObject({ code: 0 })
  })

  test('an operator cannot split a sum into small commands, and another one can go on', async () => {
    const [one, two] = [await inReview('50000'), await inReview('50000')]
    const second = await refund('alice', one)
    expect(second.said).toContain('waiting: proposed by alice')
    // The wallet has got 3.1 AUSD by alice and 1.2 by bob.
    const third = await refund('carol', two)
    expect(third.said).toContain('waiting: proposed by carol')
    for (const { said } of [second, third]) expect(await approve('bob', idIn(said))).toMatchObject({ code: 0 })
  })
})

describe('above the sum', () => {
  test('a command waits for another operator, who sees and approves exactly what was proposed', async () => {
    const id = await inReview('100000')
    const proposed = await refund('alice', id)
    expect(proposed.code).toBe(1)
    expect(proposed.said).toStartWith('waiting: proposed by alice, because it gives 6.153846 AUSD to 0x')
    const command = idIn(proposed.said)
    expect(await refundsOf(id)).toBe(0)

    expect((await refund('bob', id)).said).toContain(`ops approve ${command}`)
    expect((await ops(undefined, 'status')).said).toContain(
      '1 command waits for a second operator: bun run ops commands --proposed',
    )
    expect((await ops(undefined, 'commands', '--proposed')).said).toContain(`review resolve ${id}`)
    expect((await ops(undefined, 'commands', id)).said).toContain(`bun run ops approve ${command}`)

    expect((await approve('alice', command)).told).toContain('another operator must approve it')
    expect((await approve('dave', crypto.randomUUID())).told).toContain('was proposed')
    const shown = await ops('bob', 'approve', command)
    expect(shown.code).toBe(1)
    expect(shown.said).toContain(`review resolve ${id} refund`)
    expect(shown.said).toContain('it gives 6.153846 AUSD')
    expect(await refundsOf(id)).toBe(0)

    const approved = await approve('bob', command)
    expect(approved.code).toBe(0)
    expect(approved.said).toContain('refund to the payer ordered')
    expect(approved.said).toEndWith('; approved by bob')
    await entryIn(person, id, 'refunded')
    expect(await refundsOf(id)).toBe(1)
    expect((await approve('bob', command)).told).toContain('no longer waits for an approval')
    // It was first proposed, and then sent.
    expect(await auditOf(id)).toMatchObject([
      { by: 'alice', outcome: 'unsent', said: 'another operator had to approve it' },
      { by: 'alice', outcome: 'unknown' },
      { by: 'alice', outcome: 'done', said: expect.stringContaining('approved by bob') },
    ])
    expect((await refund('carol', id)).said).toContain('(already done by alice, ')
  })

  test('what has changed since is proposed again', async () => {
    const id = await inReview('100000')
    const command = idIn((await refund('alice', id)).said)
    await sql`update payments.payments set updated_at = now() where id = ${id}`
    const stale = await approve('bob', command)
    expect(stale.code).toBe(1)
    expect(stale.said).toContain('refused: it has changed since it was signed')
    expect(await refundsOf(id)).toBe(0)
    expect(idIn((await refund('carol', id)).said)).toBe(command)
    expect(await approve('bob', command)).toMatchObject({ code: 0 })
    await entryIn(person, id, 'refunded')
  })

  test('security: what is proposed again after an operator looked is not approved unseen', async () => {
    const id = await inReview('100000')
    const command = idIn((await refund('alice', id)).said)
    const { told } = await ops('bob', 'approve', command)
    const code = /([0-9a-f]{12}) --apply/.exec(told)![1]!
    expect((await ops('bob', 'approve', command, '--apply')).told).toContain('look at it first')
    await ops('alice', 'withdraw', command, '--reason', 'another reason')
    await ops('alice', 'review', 'resolve', id, 'refund', '--reason', 'ticket 13')
    expect((await ops('bob', 'approve', command, code, '--apply')).told).toContain('was proposed again since')
    expect(await refundsOf(id)).toBe(0)
    expect(await approve('bob', command)).toMatchObject({ code: 0 })
  })

  test('the signatures of one command perform no other, and an operator who was removed approves nothing', async () => {
    const [id, other] = [await inReview('100000'), await inReview('100000')]
    const command = idIn((await refund('alice', id)).said)
    const { request, terms, signature } = (await findProposal(sql, command))!
    await using operator = openOperator(accessOf(stack.info))
    const signed = request as { command: string; by: string; reason: string; resolution: 'refund'; paymentId: string }
    const send = (more: object) => operator.ask(ReviewResolve, { ...signed, ...more })
    const approval = { terms, signatures: [signature] }
    const twice = { terms, signatures: [signature, { ...signature, by: 'bob' }] }
    expect(await send({ approval })).toMatchObject({ ok: { unsigned: { operators: 2 } } })
    expect(await send({ approval: twice })).toMatchObject({
      ok: { refused: expect.stringContaining('the signature of bob is not by') },
    })
    expect(await send({ approval, paymentId: other })).toMatchObject({
      ok: { refused: expect.stringContaining('not of this command') },
    })
    expect(await approve('dave', command)).toMatchObject({
      code: 1,
      said: expect.stringContaining('refused: dave is not an operator of this deployment'),
    })
    expect([await refundsOf(id), await refundsOf(other)]).toEqual([0, 0])
    for (const one of [id, other])
      expect(await approve('bob', idIn((await refund('alice', one)).said))).toMatchObject({ code: 0 })
  })

  test('a proposal that is withdrawn or over is approved no more', async () => {
    const id = await inReview('100000')
    const command = idIn((await refund('alice', id)).said)
    expect(await ops('carol', 'withdraw', command, '--reason', 'wrong user')).toMatchObject({ code: 0 })
    expect((await approve('bob', command)).told).toContain('no longer waits')
    expect((await auditOf(id)).at(-1)).toMatchObject({ outcome: 'refused', said: 'withdrawn by carol: wrong user' })
    await refund('alice', id)
    await sql`update ops.proposals set until = now() where command_id = ${command}`
    expect((await approve('bob', command)).told).toContain('no longer waits')
    expect((await ops(undefined, 'commands', '--proposed')).said).toBe('no command waits for a second operator')
    expect(idIn((await refund('alice', id)).said)).toBe(command)
    expect(await approve('bob', command)).toMatchObject({ code: 0 })
  })

  test('a posting is reversed by two operators, and its service books it again', async () => {
    const [{ posting }] = await sql<[{ posting: string }]>`
      select posting from payments.journal where reverses is null order by booked_at desc limit 1`
    const proposed = await ops('alice', 'correct', posting, ...because)
    expect(proposed.told).toContain('because it gives an unknown sum')
    expect(await sql`select from payments.journal where reverses = ${posting}`).toHaveLength(0)
    const approved = await approve('bob', idIn(proposed.said))
    expect(approved.said).toMatch(/reversed by .*; approved by bob$/)
    expect((await sql`select from payments.journal where reverses = ${posting}`).length).toBeGreaterThan(1)
  })
})

test('ops access names the operators, and what needs two of them', async () => {
  const { code, said } = await ops(undefined, 'access')
  expect(code).toBe(0)
  expect(said).toContain(`  ${'alice'.padEnd(30)} ${privateKeyToAccount(key('alice')).address.toLowerCase()}`)
  const [two = '', one = ''] = said.split('\none operator\n')
  for (const subject of ['payments.review.resolve', 'chain.giveback.order', 'payouts.cashout.hold', 'ops.correct'])
    expect(two).toContain(subject)
  expect(one).toContain('payments.wallet.freeze')
})

test('the books agree after all of it', async () => {
  await booksClose(stack)
})
