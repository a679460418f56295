import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { pgSchema } from 'drizzle-orm/pg-core'
import postgres, { type Sql } from 'postgres'
import { Type } from 'typebox'
import { privateKeyToAccount } from 'viem/accounts'
import { type Handler, handler } from '#platform/bus/serve'
import { type Database, openDatabase } from '#platform/db/open'
import { openLog } from '#platform/log'
import { CommandOutcome, operatorCommandFields, type Terms, type Worth } from '#shared/messages/operator-commands'
import { question } from '#shared/messages/topic'
import { ok } from '#shared/refusals'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { approvalTable } from './approval.store'
import { type CommandGuard, guarded } from './guard'
import { approvalMs } from './may-perform'
import { signedText } from './signed-text'

const keys = { alice: '1', bob: '2', carol: '3', mallory: '4' } as const
type Name = keyof typeof keys
const account = (name: Name) => privateKeyToAccount(`0x${keys[name].repeat(64)}`)
const operator = (name: Name) => ({ name, address: account(name).address.toLowerCase() as `0x${string}` })

const table = approvalTable(pgSchema('payouts'))

let server: ScratchPostgres
let admin: Sql
let database: Database
beforeAll(async () => {
  server = await startScratchPostgres()
  admin = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  const url = server.urlAs('payouts', server.passwords.payouts)
  database = openDatabase({ url, name: 'payouts', log: openLog('suite', 'silent'), onFatal: () => {}, max: 4 })
})
afterAll(async () => {
  await admin?.end({ timeout: 1 })
  await database?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
})

const Give = question('test.give', 'payouts', ['ops'], {
  request: Type.Object({ ...operatorCommandFields, wallet: Type.String() }),
  answer: CommandOutcome,
  gives: 'money',
})
const Look = question('test.look', 'payouts', ['ops'], {
  request: Type.Object({ ...operatorCommandFields, wallet: Type.String() }),
  answer: CommandOutcome,
  gives: 'nothing',
})
const Unsaid = question('test.unsaid', 'payouts', ['ops'], {
  request: Type.Object({ ...operatorCommandFields, wallet: Type.String() }),
  answer: CommandOutcome,
})

const wallet = (digit: number | string) => `0x${String(digit).repeat(40)}`
let done: string[]
let refuses: string | undefined
let worth: Worth
let nowMs: number
const rules = { operators: (['alice', 'bob', 'carol'] as const).map(operator), aboveMicro: 100_000_000n }
const guard = (more: Partial<CommandGuard> = {}): CommandGuard => ({
  ...rules,
  deployment: '10143:0xc1',
  approvals: { database, table },
  clock: () => nowMs,
  ...more,
})
const answering = (of: typeof Give = Give): Handler =>
  handler(
    of,
    async ({ command }) => {
      if (refuses) return ok({ refused: refuses })
      done.push(command)
      return ok({ done: 'given' })
    },
    async () => worth,
  )
beforeEach(async () => {
  await admin`truncate payouts.approvals`
  done = []
  refuses = undefined
  nowMs = Date.now()
  worth = gives(50)
})
const gives = (ausd: number | null, to: string | number = 1): Worth => ({
  micro: ausd === null ? null : BigInt(ausd) * 1_000_000n,
  to: wallet(to),
  seen: 'a',
})

type Request = { command: string; by: string; reason: string; wallet: string }
const request = (by: Name = 'alice', to: string | number = 1): Request => ({
  command: crypto.randomUUID(),
  by,
  reason: 'ticket 12',
  wallet: wallet(to),
})
type Reply = { done?: string; refused?: string; unsigned?: { terms: Terms; operators: number } }
const send = async (asked: object, of: Handler = answering(), by = guard()): Promise<Reply> =>
  ((await guarded(by, of).answer(structuredClone(asked))) as { ok: Reply }).ok
const sign = async (who: Name, asked: object, terms: Terms, more: { deployment?: string; subject?: string } = {}) => ({
  by: who as string,
  signature: await account(who).signMessage({
    message: signedText({ deployment: '10143:0xc1', subject: Give.subject, request: asked, terms, ...more }),
  }),
})
/** Asks for the terms, signs them as each of these operators, and sends the command. */
async function give(asked: Request, ...who: Name[]): Promise<Reply> {
  const { terms } = (await send(asked)).unsigned!
  return send({
    ...asked,
    approval: { terms, signatures: await Promise.all(who.map((one) => sign(one, asked, terms))) },
  })
}

describe('a command of an operator', () => {
  test('is refused without a signature, with what it gives away and how many operators must sign', async () => {
    expect(await send(request())).toEqual({
      refused: `it gives 50.000000 AUSD to ${wallet(1)}: an operator must sign it`,
      unsigned: { terms: { micro: '50000000', to: wallet(1), seen: 'a', until: expect.any(String) }, operators: 1 },
    })
    worth = gives(101)
    expect(await send(request())).toMatchObject({
      refused: expect.stringContaining('two operators'),
      unsigned: { operators: 2 },
    })
    expect(done).toEqual([])
  })

  test('is performed with one signature below the sum, and with two above it', async () => {
    expect(await give(request(), 'alice')).toEqual({ done: 'given' })
    worth = gives(101, 2)
    expect(await give(request('alice', 2), 'alice')).toMatchObject({ unsigned: { operators: 2 } })
    expect(await give(request('alice', 2), 'alice', 'alice')).toMatchObject({
      refused: expect.stringContaining('signed twice'),
    })
    expect(await give(request('alice', 2), 'alice', 'bob')).toEqual({ done: 'given' })
    expect(done).toHaveLength(2)
  })

  test('that gives nothing away needs one signature, and is counted nowhere', async () => {
    const asked = request()
    const look = answering(Look)
    worth = gives(500)
    const { terms, operators } = (await send(asked, look)).unsigned!
    expect(operators).toBe(1)
    const signatures = [await sign('alice', asked, terms, { subject: Look.subject })]
    expect(
      await send({ ...asked, approval: { terms, signatures } }, look, guard({ approvals: undefined } as never)),
    ).toEqual({
      done: 'given',
    })
  })

  test('that does not say what it gives needs two operators', async () => {
    expect(await send(request(), { ...answering(Unsaid as never), worth: undefined as never })).toMatchObject({
      unsigned: { terms: { micro: null }, operators: 2 },
    })
  })

  test('is performed as it comes if the deployment names no operators', async () => {
    worth = gives(null)
    expect(await send(request(), answering(), guard({ operators: [] }))).toEqual({ done: 'given' })
  })
})

describe('a signature', () => {
  test.each<[string, (asked: Request, terms: Terms) => Promise<object>]>([
    ['of another deployment', (asked, terms) => sign('alice', asked, terms, { deployment: '143:0xc1' })],
    ['of another command', (asked, terms) => sign('alice', asked, terms, { subject: Look.subject })],
    ['of another target', (asked, terms) => sign('alice', { ...asked, wallet: wallet(9) }, terms)],
    ['of an earlier command', (asked, terms) => sign('alice', { ...asked, command: crypto.randomUUID() }, terms)],
    ['of a smaller sum', (asked, terms) => sign('alice', asked, { ...terms, micro: '1' })],
    ['by another key', async (asked, terms) => ({ ...(await sign('mallory', asked, terms)), by: 'alice' })],
  ])('%s proves nothing', async (_, make) => {
    const asked = request()
    const { terms } = (await send(asked)).unsigned!
    const reply = await send({ ...asked, approval: { terms, signatures: [await make(asked, terms)] } })
    expect(reply.refused).toMatch(/^the signature of alice is not by the key of alice, or not of this command/)
    expect(done).toEqual([])
  })

  test('by an operator who was removed since counts no more', async () => {
    worth = gives(101)
    const asked = request()
    const { terms } = (await send(asked)).unsigned!
    const approval = { terms, signatures: [await sign('alice', asked, terms), await sign('bob', asked, terms)] }
    const without = guard({ operators: [operator('bob'), operator('carol')] })
    expect(await send({ ...asked, approval }, answering(), without)).toEqual({
      refused: 'alice is not an operator of this deployment',
    })
  })

  test('counts until its end', async () => {
    const asked = request()
    const { terms } = (await send(asked)).unsigned!
    nowMs += approvalMs
    const approval = { terms, signatures: [await sign('alice', asked, terms)] }
    expect((await send({ ...asked, approval })).refused).toStartWith('its signatures counted until')
  })

  test('does not count once the sum, the wallet or the state has changed', async () => {
    for (const changed of [gives(51), gives(50, 2), { ...gives(50), seen: 'b' }]) {
      worth = gives(50)
      const asked = request()
      const { terms } = (await send(asked)).unsigned!
      worth = changed
      const approval = { terms, signatures: [await sign('alice', asked, terms)] }
      expect((await send({ ...asked, approval })).refused).toStartWith('it has changed since it was signed')
    }
    expect(done).toEqual([])
  })
})

describe('small commands do not add up to a large one:', () => {
  test('those of one operator, to whatever wallets', async () => {
    for (const to of [1, 2]) {
      worth = gives(50, to)
      expect(await give(request('alice', to), 'alice')).toEqual({ done: 'given' })
    }
    worth = gives(1, 3)
    expect(await give(request('alice', 3), 'alice')).toMatchObject({ unsigned: { operators: 2 } })
    expect(await give(request('bob', 3), 'bob')).toEqual({ done: 'given' })
  })

  test('those to one wallet, by whatever operators', async () => {
    expect(await give(request('alice'), 'alice')).toEqual({ done: 'given' })
    expect(await give(request('bob'), 'bob')).toEqual({ done: 'given' })
    worth = gives(1)
    expect(await give(request('carol'), 'carol')).toMatchObject({ unsigned: { operators: 2 } })
  })

  test('but not those that two operators signed, or that were refused', async () => {
    expect(await give(request(), 'alice', 'bob')).toEqual({ done: 'given' })
    refuses = 'it is gone'
    expect(await give(request(), 'alice')).toEqual({ refused: 'it is gone' })
    refuses = undefined
    worth = gives(100)
    expect(await give(request(), 'alice')).toEqual({ done: 'given' })
  })

  test('security: those that were given also count if their repeat is refused', async () => {
    const asked = request()
    const { terms } = (await send(asked)).unsigned!
    const signed = { ...asked, approval: { terms, signatures: [await sign('alice', asked, terms)] } }
    expect(await send(signed)).toEqual({ done: 'given' })
    refuses = 'it has changed since'
    expect(await send(signed)).toEqual({ refused: 'it has changed since' })
    refuses = undefined
    worth = gives(51, 2)
    expect(await give(request('alice', 2), 'alice')).toMatchObject({ unsigned: { operators: 2 } })
  })

  test('security: those that were refused count once a repeat of them is done', async () => {
    const asked = request()
    const { terms } = (await send(asked)).unsigned!
    const signed = { ...asked, approval: { terms, signatures: [await sign('alice', asked, terms)] } }
    refuses = 'try again later'
    expect(await send(signed)).toEqual({ refused: 'try again later' })
    refuses = undefined
    expect(await send(signed)).toEqual({ done: 'given' })
    worth = gives(51, 2)
    expect(await give(request('alice', 2), 'alice')).toMatchObject({ unsigned: { operators: 2 } })
  })

  // guard: what was given counts, whatever another attempt is told
  test('security: those that were given also count if another attempt at the same time is refused in the end', async () => {
    const asked = request()
    const { terms } = (await send(asked)).unsigned!
    const signed = { ...asked, approval: { terms, signatures: [await sign('alice', asked, terms)] } }
    const begun = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const slow = handler(
      Give,
      async () => {
        begun.resolve()
        await goOn.promise
        return ok({ refused: 'try again later' })
      },
      async () => worth,
    )
    const refused = send(signed, slow)
    await begun.promise
    expect(await send(signed)).toEqual({ done: 'given' })
    goOn.resolve()
    expect(await refused).toEqual({ refused: 'try again later' })
    worth = gives(51, 2)
    expect(await give(request('alice', 2), 'alice')).toMatchObject({ unsigned: { operators: 2 } })
  })

  test('security: those with the same id of a command, which their operator chose', async () => {
    const { command } = request()
    for (const to of [1, 2]) {
      worth = gives(50, to)
      expect(await give({ ...request('alice', to), command }, 'alice')).toEqual({ done: 'given' })
    }
    worth = gives(1, 3)
    expect(await give({ ...request('alice', 3), command }, 'alice')).toMatchObject({ unsigned: { operators: 2 } })
  })

  test('and not those of yesterday', async () => {
    worth = gives(100)
    expect(await give(request(), 'alice')).toEqual({ done: 'given' })
    await admin`update payouts.approvals set approved_at = now() - interval '24 hours 1 second'`
    expect(await give(request(), 'alice')).toEqual({ done: 'given' })
  })

  // guard: what an operator gives alone is counted before the next command
  test('two at once count each other', async () => {
    worth = gives(60)
    const replies = await Promise.all(Array.from({ length: 6 }, () => give(request(), 'alice')))
    expect(replies.filter((one) => one.done)).toHaveLength(1)
    expect(replies.filter((one) => one.unsigned?.operators === 2)).toHaveLength(5)
  })
})

describe('a command whose response was lost', () => {
  test('is passed on again, although what it acts on has changed by it', async () => {
    worth = gives(101)
    const asked = request()
    const { terms } = (await send(asked)).unsigned!
    const approval = { terms, signatures: [await sign('alice', asked, terms), await sign('bob', asked, terms)] }
    expect(await send({ ...asked, approval })).toEqual({ done: 'given' })
    worth = gives(0)
    expect(await send({ ...asked, approval })).toEqual({ done: 'given' })
    nowMs += approvalMs
    expect((await send({ ...asked, approval })).refused).toStartWith('its signatures counted until')
  })

  test('counts once if it is signed again', async () => {
    const asked = request()
    expect(await give(asked, 'alice')).toEqual({ done: 'given' })
    nowMs += 1_000
    expect(await give(asked, 'alice')).toEqual({ done: 'given' })
    expect(await give(request(), 'alice')).toEqual({ done: 'given' })
  })
})

test.each(['a\nb', 'a\u001b[8m', 'a\u202eb'])(
  'security: a reason that hides or imitates a line has no form: %j',
  async (reason) => {
    await expect(send({ ...request(), reason })).rejects.toThrow('reason')
  },
)

test('a request that has no form is left to its handler', async () => {
  await expect(send({ by: 'alice' })).rejects.toThrow('command is missing')
})
