import { afterAll, beforeAll, expect, test } from 'bun:test'
import postgres, { type Sql } from 'postgres'
import { type AuditedCommand, type Awaited, perform } from '#infra/operations/audit-log/perform'
import { type CommandReply, Proposed } from '#infra/operations/audit-log/signed-outcome'
import { readOperatorCommands } from '#infra/operations/cli/operator-commands'
import { Unavailable } from '#platform/bus/ask'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'

let server: ScratchPostgres
let sql: Sql
beforeAll(async () => {
  server = await startScratchPostgres()
  sql = postgres(server.urlAs('ops', server.passwords.ops), { max: 2, onnotice: () => {} })
})
afterAll(async () => {
  await sql?.end({ timeout: 1 })
  await server?.[Symbol.asyncDispose]()
})

const command = (target: string, more: Partial<AuditedCommand> = {}): AuditedCommand => ({
  verb: 'wallets clear',
  target,
  cause: 'revision 3',
  reason: 'ticket 12',
  by: 'sari',
  ...more,
})
function serviceThatSays(outcome: CommandReply | Awaited | Error) {
  const asked: string[] = []
  const ask = async (id: string) => {
    asked.push(id)
    if (outcome instanceof Error) throw outcome
    return outcome
  }
  return { asked, ask }
}

test('a repeated command takes effect once and reports who ran it first', async () => {
  const service = serviceThatSays({ done: 'the freeze is lifted' })
  expect(await perform({ sql }, command('a'), service.ask)).toEqual({
    id: expect.any(String),
    done: 'the freeze is lifted',
  })
  const again = await perform({ sql }, command('a', { by: 'dewi', reason: 'me too' }), service.ask)
  expect(again).toMatchObject({
    done: 'the freeze is lifted',
    earlier: { by: 'sari', reason: 'ticket 12' },
  })
  expect(service.asked).toHaveLength(1)
})

test('security: a command that was refused and then done is recorded under the operator who had it done', async () => {
  await perform({ sql }, command('z'), serviceThatSays({ refused: 'not yet' }).ask)
  const dewi = { by: 'dewi', reason: 'ticket 13' }
  await perform({ sql }, command('z', dewi), serviceThatSays({ done: 'the freeze is lifted' }).ask)
  const again = await perform({ sql }, command('z'), serviceThatSays({ done: 'unasked' }).ask)
  expect(again).toMatchObject({ done: 'the freeze is lifted', earlier: dewi })
  expect(await readOperatorCommands(sql, { target: 'z' })).toMatchObject([
    { by: 'sari', reason: 'ticket 12', outcome: 'done', doneBy: 'dewi', doneReason: 'ticket 13' },
  ])
})

test('another target, cause or command is a new request', async () => {
  const service = serviceThatSays({ done: 'yes' })
  for (const other of [command('b'), command('b', { cause: '4' }), command('b', { verb: 'wallets look' })])
    await perform({ sql }, other, service.ask)
  expect(new Set(service.asked).size).toBe(3)
})

test('after a lost response the same command asks again under the same id', async () => {
  const silent = serviceThatSays(new Error('no answer'))
  await expect(perform({ sql }, command('c'), silent.ask)).rejects.toThrow(
    /^wallets clear c: no response, outcome unknown\. Run the same command again/,
  )
  const away = serviceThatSays(new Unavailable('payments is not there'))
  await expect(perform({ sql }, command('c-away'), away.ask)).rejects.toThrow(
    /^wallets clear c-away: the service could not be reached, nothing was done\. Run the same command/,
  )
  // The request before it, whose response was lost, may have been handled.
  await expect(perform({ sql }, command('c'), away.ask)).rejects.toThrow(
    /^wallets clear c: the service could not be reached, another request may have taken effect\. Run the same command/,
  )
  const service = serviceThatSays({ done: 'yes' })
  await perform({ sql }, command('c'), service.ask)
  expect(service.asked).toEqual(silent.asked)
})

test('a command that found no service is recorded as unsent, so that its repeat reports that nothing was done', async () => {
  const away = serviceThatSays(new Unavailable('payments is not there'))
  for (const _ of ['first', 'second'])
    await expect(perform({ sql }, command('u'), away.ask)).rejects.toThrow(/could not be reached, nothing was done/)
  expect(await readOperatorCommands(sql, { target: 'u' })).toMatchObject([
    { outcome: 'unsent', said: 'the service could not be reached, nothing was done' },
  ])
  const service = serviceThatSays({ done: 'yes' })
  await perform({ sql }, command('u'), service.ask)
  expect(service.asked).toEqual([away.asked[0]!])
  expect(await readOperatorCommands(sql, { target: 'u' })).toMatchObject([{ outcome: 'done', said: 'yes' }])
})

test('after a lost response the outcome stays unknown while the service cannot be reached', async () => {
  await expect(perform({ sql }, command('v'), serviceThatSays(new Error('no answer')).ask)).rejects.toThrow(/unknown/)
  const away = serviceThatSays(new Unavailable('payments is not there'))
  await expect(perform({ sql }, command('v'), away.ask)).rejects.toThrow(/another request may have taken effect/)
  expect(await readOperatorCommands(sql, { target: 'v' })).toMatchObject([{ outcome: null }])
})

test('a command that was refused has an unknown outcome once the response to its repeat is lost', async () => {
  await perform({ sql }, command('w'), serviceThatSays({ refused: 'not frozen' }).ask)
  await expect(perform({ sql }, command('w'), serviceThatSays(new Error('no answer')).ask)).rejects.toThrow(/unknown/)
  expect(await readOperatorCommands(sql, { target: 'w' })).toMatchObject([{ outcome: null }])
  const away = serviceThatSays(new Unavailable('payments is not there'))
  await expect(perform({ sql }, command('w'), away.ask)).rejects.toThrow(/another request may have taken effect/)
  await perform({ sql }, command('w'), serviceThatSays({ refused: 'not frozen' }).ask)
  expect(await readOperatorCommands(sql, { target: 'w' })).toMatchObject([{ outcome: 'refused' }])
})

test('a request that found no service does not hide one of another operator whose response was lost', async () => {
  const lost = serviceThatSays(new Error('no answer'))
  const away = async (): Promise<never> => {
    await expect(perform({ sql }, command('x', { by: 'dewi' }), lost.ask)).rejects.toThrow(/outcome unknown/)
    throw new Unavailable('payments is not there')
  }
  await expect(perform({ sql }, command('x'), away)).rejects.toThrow(/another request may have taken effect/)
  expect(await readOperatorCommands(sql, { target: 'x' })).toMatchObject([{ outcome: null }])
})

test('a refusal does not hide a request of another operator that was under way, and whose response was lost', async () => {
  const refused = serviceThatSays({ refused: 'not frozen' })
  const lost = async (): Promise<never> => {
    await perform({ sql }, command('y', { by: 'dewi' }), refused.ask)
    throw new Error('no answer')
  }
  await expect(perform({ sql }, command('y'), lost)).rejects.toThrow(/outcome unknown/)
  expect(await readOperatorCommands(sql, { target: 'y' })).toMatchObject([{ outcome: null }])
})

test('a command that is done stays done in the list, whatever another operator who ran it at once was told', async () => {
  const done = serviceThatSays({ done: 'the freeze is lifted' })
  for (const [target, told] of [
    ['k', new Error('no answer')],
    ['l', { refused: 'it has just changed' }],
  ] as const) {
    const other = async () => {
      await perform({ sql }, command(target, { by: 'dewi' }), done.ask)
      return serviceThatSays(told).ask('')
    }
    await perform({ sql }, command(target), other).catch(() => {})
    expect(await readOperatorCommands(sql, { target })).toMatchObject([{ outcome: 'done', doneBy: 'dewi' }])
  }
})

test('a command that waited for another operator is unsent, also if it was refused before', async () => {
  await perform({ sql }, command('p'), serviceThatSays({ refused: 'not frozen' }).ask)
  const proposing = serviceThatSays(new Proposed('proposed by sari'))
  for (const target of ['p', 'q']) {
    expect(await perform({ sql }, command(target), proposing.ask)).toMatchObject({ awaited: 'proposed by sari' })
    expect(await readOperatorCommands(sql, { target })).toMatchObject([{ outcome: 'unsent' }])
  }
})

test('no outcome is recorded until one is known, and repeating the command reuses the same request', async () => {
  const deciding = serviceThatSays({ awaited: 'it is being decided' })
  expect(await perform({ sql }, command('f'), deciding.ask)).toMatchObject({
    awaited: 'it is being decided',
  })
  expect(
    await sql`
    select 1 from ops.outcomes o join ops.commands d on d.id = command_id where target = 'f'`,
  ).toHaveLength(0)
  const service = serviceThatSays({ refused: 'it was taken' })
  await perform({ sql }, command('f'), service.ask)
  expect(service.asked).toEqual(deciding.asked)
})

test('a refused command may be repeated, and its outcome is unknown until the response to the repeat', async () => {
  const refused = { refused: 'not frozen' }
  expect(await perform({ sql }, command('d'), serviceThatSays(refused).ask)).toMatchObject(refused)
  await perform({ sql }, command('d'), serviceThatSays({ done: 'yes' }).ask)
  const told = await sql`
    select outcome, said from ops.outcomes o join ops.commands d on d.id = command_id
    where target = 'd' order by o.id`
  expect([...told]).toEqual([
    { outcome: 'refused', said: 'not frozen' },
    { outcome: 'unknown', said: 'no response' },
    { outcome: 'done', said: 'yes' },
  ])
})

test('a command is listed by the time of its outcome, because another operator may have it done long after a refusal', async () => {
  const day = (of: number) => new Date(Date.UTC(2026, 10, of, 2))
  const [{ id }] = await sql<[{ id: string }]>`
    insert into ops.commands ${sql({ verb: 'v', target: 'm', cause: 'c', reason: 'r', asked_by: 'sari', asked_at: day(20) })}
    returning id`
  const end = (outcome: string, by: string, at: Date) => sql`
    insert into ops.outcomes ${sql({ command_id: id, outcome, said: 's', asked_by: by, reason: 'r', recorded_at: at })}`
  await end('refused', 'sari', day(20))
  expect(await readOperatorCommands(sql, { target: 'm', from: day(21) })).toHaveLength(0)
  await end('done', 'dewi', day(22))
  const [done] = await readOperatorCommands(sql, { target: 'm', from: day(21) })
  expect([done?.at, done?.doneBy]).toEqual([day(22), 'dewi'])
  expect(await readOperatorCommands(sql, { target: 'm', to: day(21) })).toHaveLength(0)
})

test('a command without a reason is not recorded and reaches no service', async () => {
  const service = serviceThatSays({ done: 'yes' })
  await expect(perform({ sql }, command('e', { reason: '' }), service.ask)).rejects.toThrow(/commands_words/)
  expect(service.asked).toEqual([])
})
