import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import type { Hex } from 'viem'
import { toUnixSeconds } from '#platform/clock'
import { canonical } from '#shared/chain/given-authorization'
import * as questions from '#shared/messages/chain'
import type { Question } from '#shared/messages/topic'
import { answersOf } from '../questions/answers'
import { createSend } from '../questions/send'
import { relayOnce } from '../relay-loop'
import { pauses } from '../schema.store'
import { freeze, newNonce, newRefId, newWallet, openFixture, recipient, take, until, verify } from '../test-support'
import { goesOn, type Task } from './operation'

const fixture = await openFixture()
afterAll(fixture.close)
await fixture.mint(fixture.treasury.address, 10_000_000_000n)

const ask = (question: Question, request: object) =>
  answersOf(fixture.context)
    .find((one) => one.question === question)!
    .answer(request) as Promise<{ ok?: { done: string }; refused?: string; since?: string }>
const pause = async (to: 'paused' | 'running') => {
  const [seen] = await fixture.context.database.read((db) => db.select().from(pauses))
  const revision = seen?.revision ?? 0
  return ask(questions.RelayingPause, {
    command: crypto.randomUUID(),
    by: 'sari',
    reason: 'ticket 7',
    to,
    revision,
  })
}
afterEach(() => pause('running'))

const somebody: Hex = `0x${'c0'.repeat(20)}`
const ausd = '1000000'
const paidAt = String(toUnixSeconds(Date.now()))
const credit = (refId = newRefId(), held = false) =>
  ({ kind: 'credit', payload: { refId, wallet: somebody, ausd, held } }) as const
const repay = () =>
  ({
    kind: 'repay',
    payload: { refId: newRefId(), wallet: somebody, ausd, held: false, paidAt },
  }) as const
const revoke = (refId: string) => ({ kind: 'revoke', payload: { refId, wallet: somebody, of: 'topup' } }) as const

describe('while relaying is paused', () => {
  test('operations that protect money proceed, and all others wait', async () => {
    const context = await fixture.begin()
    const held = credit(newRefId(), true)
    await fixture.command(held)
    await fixture.finish(context, held)
    const { key } = await newWallet(fixture)
    const to = fixture.treasury.address
    const signed = await fixture.sign(key, { to, value: 4_000_000n, nonce: newNonce() })
    expect((await pause('paused')).ok!.done).toMatch(/^relaying paused since \S+$/)
    expect((await pause('paused')).ok!.done).toContain(', by sari: ticket 7')

    const waiting: Task[] = [credit(), take(signed), verify(somebody, true, 1n)]
    const going: Task[] = [revoke(held.payload.refId), freeze(somebody, true, 1n), repay()]
    for (const task of [...waiting, ...going]) await fixture.command(task)
    for (const task of going) expect((await fixture.finish(context, task)).state).toBe('settled')
    for (const task of waiting) expect(await fixture.operationOf(task)).toMatchObject({ state: 'waiting', nonce: null })

    await pause('running')
    for (const task of waiting) expect((await fixture.finish(context, task)).state).toBe('settled')
    expect(goesOn.some((kind) => waiting.some((task) => task.kind === kind))).toBe(false)
  })

  test('an operation with a nonce proceeds', async () => {
    const context = await fixture.begin()
    const task = credit()
    await fixture.command(task)
    await until(async () => {
      await relayOnce(context)
      return (await fixture.operationOf(task)).nonce !== null
    }, 'a nonce')
    await pause('paused')
    expect((await fixture.finish(context, task)).state).toBe('settled')
  })

  test('a send and a cash-out are refused with the start of the pause', async () => {
    const context = await fixture.begin()
    const { key, address } = await newWallet(fixture)
    const verified = verify(address, true, 1n)
    await fixture.command(verified)
    await fixture.finish(context, verified)
    const signed = await fixture.sign(key, { to: recipient, value: 50_000n, nonce: newNonce() })
    await pause('paused')
    const refused = {
      refused: 'relaying_paused',
      since: expect.stringMatching(/^20[0-9-]+T[0-9:]+Z$/),
    }
    expect(await createSend(context, address, canonical(signed))).toEqual(refused as never)
    expect(await ask(questions.AuthorizationCheck, { authorization: signed })).toEqual(refused)
    await pause('running')
    expect(await createSend(context, address, canonical(signed))).toHaveProperty('ok')
  })
})
