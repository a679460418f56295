import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import postgres, { type Sql } from 'postgres'
import type { RunningStack } from '#infra/local/stack'
import { query } from '#test/support/database'
import { operate, sharedStack } from '#test/support/stack'
import { type DeadLetterSummary, groupsOf, lettersNamed, listDeadLetters } from './letters'

const letter = (messageId: string, more: Partial<DeadLetterSummary> = {}): DeadLetterSummary => ({
  service: 'payments',
  messageId,
  subject: 'relay.credit.settled',
  reason: 'r',
  diedAt: new Date('2026-11-22T01:00:00Z'),
  redriveRequestedAt: null,
  firstDiedAt: more.diedAt ?? new Date('2026-11-22T01:00:00Z'),
  ...more,
})

describe('groups of dead letters', () => {
  test('dead letters whose errors differ only in ids and numbers, and subjects only in the delivery, form one group', () => {
    const found = groupsOf([
      letter('a', {
        subject: 'webhooks.payments.ID.dlv_a',
        reason: 'pay_AAAAAAAAAAAAAAAAAAAAAA is 12 short, tx 0xabcdef0123',
      }),
      letter('b', {
        subject: 'webhooks.payments.ID.dlv_b',
        reason: 'pay_BBBBBBBBBBBBBBBBBBBBBB is 7 short, tx 0x99cdef0123',
        diedAt: new Date('2026-11-22T02:00:00Z'),
      }),
      letter('c', { subject: 'webhooks.payments.ID.dlv_c', reason: 'something else' }),
    ])
    expect(found).toMatchObject([
      {
        count: 2,
        sample: 'a',
        error: '… is # short, tx …',
        service: 'payments',
        subject: 'webhooks.payments.ID',
      },
      { count: 1, sample: 'c' },
    ])
    const times = ['2026-11-22T01:00:00Z', '2026-11-22T02:00:00Z'].map((at) => new Date(at))
    expect([found[0]!.firstAt, found[0]!.lastAt]).toEqual(times)
  })

  test('the age of a group is that of its first failure, also after a failed redrive', () => {
    const firstDiedAt = new Date('2026-11-20T01:00:00Z')
    const [group] = groupsOf([letter('a'), letter('b', { firstDiedAt })])
    expect(group!.firstAt).toEqual(firstDiedAt)
  })

  test('dead letters of different services are different groups', () => {
    expect(groupsOf([letter('a'), letter('a', { service: 'payouts' })])).toHaveLength(2)
  })

  test('dead letters are named by message, by group, or all at once', () => {
    const letters = [letter('a'), letter('b', { reason: 'x' }), letter('c', { reason: 'x' })]
    const named = (word: string) => lettersNamed(letters, word).map(({ messageId }) => messageId)
    expect(named('b')).toEqual(['b'])
    expect(named(groupsOf(letters)[0]!.id)).toEqual(['b', 'c'])
    expect(named('all')).toEqual(['a', 'b', 'c'])
    expect(named('d')).toEqual([])
  })
})

describe('ops dead-letters', () => {
  let stack: RunningStack
  let sql: Sql
  const ops = (...words: string[]) => operate(stack, 'dead-letters', ...words)
  beforeAll(async () => {
    stack = await sharedStack()
    sql = postgres(stack.adminUrl, { max: 1, onnotice: () => {} })
  })
  afterAll(() => sql?.end({ timeout: 1 }))

  async function bury(service: string, id: string, subject: string, payload: object) {
    const schema = service.replaceAll('-', '_')
    await sql`
      insert into ${sql(schema)}.inbox (consumer, message_id, attempts, done_at)
      values (${service}, ${id}, 40, now())`
    await sql`
      insert into ${sql(schema)}.dead_letter (consumer, message_id, subject, payload, reason)
      values (${service}, ${id}, ${subject}, ${sql.json(payload as never)}, 'gave up')`
  }
  /** Dead-letters a message that is harmless when handled, because the handler only logs. */
  const failed = (id: string) =>
    bury('payments', id, 'relay.extend.failed', {
      operationId: `op-${id}`,
      cause: id,
      reason: 'reverted',
      wallet: `0x${'1'.repeat(40)}`,
    })

  test('ops dead-letters list reports that there are no dead letters', async () => {
    expect(await ops('list')).toMatchObject({ code: 0, said: 'no dead letters' })
  })

  test('ops dead-letters list groups dead letters by error, and show prints one without private data', async () => {
    await failed('one')
    await failed('two')
    const delivery = { account: 'ID', deliveryId: 'd', receivedAt: 'now', body: 'Sari Dewi' }
    await bury('payouts', 'hook', 'webhooks.payments.ID.d', delivery)
    const { code, said } = await ops('list', '--json')
    const { ok, groups } = JSON.parse(said)
    expect([code, ok]).toEqual([1, false])
    expect(groups).toMatchObject([
      { service: 'payments', count: 2, sample: 'one', error: 'gave up' },
      { service: 'payouts', count: 1, sample: 'hook', subject: 'webhooks.payments.ID' },
    ])
    const shown = await ops('show', groups[1].id)
    expect(shown.said).toContain('after 40 attempts: gave up')
    expect(shown.said).not.toContain('Sari')
  })

  test('ops dead-letters redrive has a dead letter handled once, and records the operator and the reason', async () => {
    const words = ['redrive', 'one', '--reason', 'the node is back', '--by', 'sari']
    expect(await ops(...words)).toMatchObject({ code: 0, said: 'payments:one processed' })
    const left = (await listDeadLetters(sql)).map(({ messageId }) => messageId)
    expect(left).toEqual(['two', 'hook'])
    expect(await query(stack, `select verb, reason, asked_by from ops.commands where target = 'payments:one'`)).toEqual(
      [{ verb: 'dead-letters redrive', reason: 'the node is back', asked_by: 'sari' }],
    )
    expect(await ops(...words)).toMatchObject({ code: 1 })
    const noted = await operate(stack, 'commands', 'payments:one')
    expect(noted).toMatchObject({ code: 0 })
    expect(noted.said).toContain(
      'sari  dead-letters redrive payments:one  (the node is back)  done: payments:one will be redriven',
    )
  })

  test('ops dead-letters list shows the age of the first failure after a failed redrive', async () => {
    const first = '2026-11-20T01:00:00.000Z'
    await sql`
      insert into ops.commands (verb, target, cause, reason, asked_by)
      values ('dead-letters redrive', 'payments:two', ${first}, 'mended', 'sari')`
    const [two] = (await listDeadLetters(sql)).filter(({ messageId }) => messageId === 'two')
    expect(two!.firstDiedAt.toISOString()).toBe(first)
    expect(two!.diedAt.getTime()).toBeGreaterThan(two!.firstDiedAt.getTime())
  })

  test('ops dead-letters dismiss closes a group unhandled, and its rows have the reason', async () => {
    const [group] = groupsOf(await listDeadLetters(sql)).filter(({ sample }) => sample === 'hook')
    const words = ['dismiss', group!.id, '--reason', 'a test of the provider', '--by', 'dewi']
    expect(await ops(...words)).toMatchObject({ code: 0, said: 'payouts:hook is dismissed' })
    const [row] = await sql`select reason from payouts.dead_letter where message_id = 'hook'`
    expect(row!.reason).toBe('dismissed: a test of the provider, was: gave up')
  })

  test('ops dead-letters without a reason or a target changes nothing', async () => {
    const before = await listDeadLetters(sql)
    expect((await ops('redrive', 'two')).code).toBe(2)
    expect((await ops('redrive', 'nobody', '--reason', 'why')).code).toBe(1)
    expect(await listDeadLetters(sql)).toEqual(before)
    expect(before).toHaveLength(1)
    expect((await ops('redrive', 'all', '--reason', 'cleaned up')).code).toBe(0)
  })
})
