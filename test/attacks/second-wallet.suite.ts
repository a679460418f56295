import { beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import { localTerms } from '#infra/local/chain'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { recordingSeconds } from '#shared/chain/recording-seconds'
import { groupStack } from '../runner/group'
import { flowsEnding, topUp } from '../support/flows'
import { newCaller, newUser, verifiedUser } from '../support/people'
import { operate } from '../support/stack'
import { servesTruth } from '../support/verify'

// A borrower defaults with one wallet and tries to start again with another.

const { termSeconds, graceSeconds } = localTerms
let stack: Stack
let outside: ExternalControls
/** Identity of both wallets; a real provider recognises it by face and document. */
const who = `person ${crypto.randomUUID()}`
let first: Person
let second: Person

const approve = (person: Person) => outside.control(`identity/${person.wallet}`, { verdict: 'approved', person: who })
const because = ['--reason', 'ticket 35', '--by', 'sari']
const persons = (...words: string[]) => operate(stack, 'persons', ...words)

beforeAll(async () => {
  stack = groupStack()
  outside = outsideOf(stack.info)
  first = await newUser(stack, { wei: 10n ** 19n })
  await approve(first)
  await first.until('verification', (me) => me.verified)
  await flowsEnding([await topUp(stack, first, { amount: '500000' })])
  await first.draw(3_000_000n)
  await outside.advance(termSeconds + graceSeconds + recordingSeconds + 1)
  const stranger = await newCaller(stack)
  await stranger.call('markDefault', [first.account.address])
  await first.until('the default', (me) => me.defaulted)
  second = await newUser(stack, { ausdMicro: 20_000_000n, wei: 10n ** 19n })
  await approve(second)
})

describe('a borrower who has defaulted', () => {
  test('is not verified with a second wallet, and is told to contact support', async () => {
    const { verified, verification } = await second.until(
      'the verdict',
      (me) => me.verification.nextAction === 'contact support' && me,
    )
    expect([verified, verification.status]).toEqual([false, 'rejected'])
    expect((await servesTruth(stack, second.wallet)).verified).toBe(false)
  })

  test('can neither top up nor borrow nor send with it, also after another approval', async () => {
    await approve(second)
    const { id: quoteId } = await second.quote('USD/IDR')
    const topup = await second.post('/topups', { amount: '50000', method: 'qr', quoteId })
    const send = await second.post('/sends', {
      authorization: await second.sign({ to: `0x${'77'.repeat(20)}`, valueMicro: 1_000_000n }),
    })
    for (const { status, body } of [topup, send])
      expect([status, body]).toEqual([403, { error: 'verify your identity first' }])
    const draw = await second.draw(1_000_000n).then(
      () => 'done',
      () => 'reverted',
    )
    expect(draw).toBe('reverted')
    expect((await second.me()).available).toBe('0')
  })

  test('waits for an operator, who sees it in `ops status` and links it to the first wallet', async () => {
    expect((await operate(stack, 'status')).said).toContain('persons list')
    const { said, code } = await persons('list')
    expect([code, said]).toEqual([1, expect.stringContaining(second.wallet)])
    expect(said).toContain(`same person as ${first.wallet}  waits for a decision`)
    const link = () => persons('link', second.wallet, first.wallet, ...because)
    expect((await link()).said).toStartWith(`linked to ${first.wallet}`)
    expect((await link()).said).toContain('already done by sari')
    expect(await persons('list')).toMatchObject({ code: 0 })
    expect((await operate(stack, 'status')).said).not.toContain('persons list')
    expect((await second.me()).verified).toBe(false)
    const log = (await operate(stack, 'commands', second.wallet)).said
    expect(log).toContain('persons link')
  })

  test('is not erased while the default stands, so that the provider goes on knowing them', async () => {
    const erase = (...words: string[]) => persons('erase', first.wallet, ...because, ...words)
    for (const words of [[], ['--apply']]) {
      const { code, said } = await waitUntil('the final orders of the wallet', async () => {
        const answer = await erase(...words)
        return !answer.said.includes('is not final') && !answer.said.includes('not on chain') ? answer : undefined
      })
      expect([code, said]).toEqual([1, expect.stringContaining('the wallet has defaulted')])
    }
    expect((await first.me()).verified).toBe(true)
  })

  test('is verified with it only if the operator allows that, and loses it if that is taken back', async () => {
    expect((await persons('allow', second.wallet, ...because)).code).toBe(0)
    await second.until('verification', (me) => me.verified)
    expect((await persons('link', second.wallet, first.wallet, ...because)).code).toBe(0)
    await second.until('the withdrawal', (me) => !me.verified)
    expect((await first.me()).verified).toBe(true)
    await waitUntil('an end of the orders', async () => (await persons('list')).code === 0)
  })
})

test('a verification that an operator withdraws stays withdrawn until the operator restores it', async () => {
  const person = await verifiedUser(stack)
  expect((await persons('withdraw', person.wallet, ...because)).said).toStartWith('withdrawn')
  await person.until('the withdrawal', (me) => !me.verified && me.verification.nextAction === 'contact support')
  const { id: quoteId } = await person.quote('USD/IDR')
  expect((await person.post('/topups', { amount: '50000', method: 'qr', quoteId })).status).toBe(403)
  expect((await persons('list')).said).toContain(`${person.wallet}  verification withdrawn: persons restore`)
  expect((await persons('withdraw', person.wallet, ...because)).said).toContain('already done by sari')
  expect((await persons('restore', person.wallet, ...because)).said).toStartWith('restored')
  await person.until('verification', (me) => me.verified)
  expect((await persons('list')).said).not.toContain(person.wallet)
})

test('an operator is alerted if the provider deletes the applicant of a borrower who has defaulted', async () => {
  await outside.control(`identity/${first.wallet}`, { verdict: 'deleted' })
  const alert = `"wallet":"${first.wallet}"`
  await waitUntil('the alert', () => {
    const lines = readFileSync(join(stack.dir, 'logs/gateway.log'), 'utf8').split('\n')
    return lines.some((line) => line.includes('identity deleted at provider despite a claim') && line.includes(alert))
  })
})
