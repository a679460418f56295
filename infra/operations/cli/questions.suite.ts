import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { questions } from '#infra/documents/questions'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { groupStack } from '#test/runner/group'
import { creditedTopUp } from '#test/support/flows'
import { verifiedUser } from '#test/support/people'
import { operate, operateAsProcess } from '#test/support/stack'

const listed = questions.map(({ question, words }) => [question, words] as const)

describe('questions during an incident', () => {
  let stack: Stack
  let paymentId: string
  beforeAll(async () => {
    stack = groupStack()
    const person = await verifiedUser(stack)
    paymentId = (await creditedTopUp(stack, person)).id
  })

  afterAll(async () => {
    for (const name of ['postgres', 'nats-server', 'payments'] as const) stack.process(name).start()
    const isReady = async () => (await fetch(`${stack.info.ops.gateway}/ready`)).ok
    await waitUntil('every service being ready', isReady)
  })

  const withId = (words: readonly string[]) => words.map((word) => (word === '<id>' ? paymentId : word))
  const ask = (words: readonly string[]) => operate(stack, ...withId(words))

  /** Repeats a command, because on a busy machine a part may not be read in time. */
  const asked = (words: readonly string[], run = ask) =>
    waitUntil(`all of ${words.join(' ')}`, async () => {
      const answer = await run(words)
      if (answer.code === 0) return answer
      throw new Error(`${answer.complaint}${answer.said}`)
    })

  test('there are ten questions', () => {
    expect(listed).toHaveLength(10)
  })

  test.each(listed)('"%s" is answered by one command', async (_, words) => {
    const { said, complaint } = await asked(words)
    expect(complaint).toBe('')
    expect(said).not.toStartWith('usage')
  })

  test('a command is answered by a process of its own, too', async () => {
    const words = withId(['trace', '<id>'])
    const { said, complaint } = await asked(words, () => operateAsProcess(stack, 'main.ts', ...words))
    expect(said).toStartWith(`topup ${paymentId}  credited`)
    expect(complaint).toBe('')
  })

  test.each(listed.filter(([, [verb]]) => !['unexplained', 'growth'].includes(verb!)))(
    '%s is answered for a program too',
    async (_, words) => {
      const { said } = await asked([...words, '--json'])
      expect(typeof JSON.parse(said)).toBe('object')
    },
  )

  test('the answers cover the whole way of a payment and its money in the books, and report that all is well', async () => {
    expect((await asked(['status'])).said).toEndWith('nothing needs attention')
    const { said } = await asked(['trace', '<id>'])
    expect(said).toStartWith(`topup ${paymentId}  credited`)
    expect(said).toContain('payments sent relay.credit, handled by chain-relayer')
    expect((await asked(['books'])).said).toMatch(/collateral +-3\.076923/)
  })

  test('while a service is down, it is named and all other parts are shown', async () => {
    await stack.process('payments').stop('SIGKILL')
    const { code, said } = await ask(['status'])
    expect(code).toBe(1)
    expect(said).toContain('  payments does not respond')
    const trace = await asked(['trace', '<id>'])
    expect(trace.said).toStartWith(`topup ${paymentId}  credited`)
  })

  test('while the bus is down, rows, chain and provider are shown and the unreadable parts are named', async () => {
    await stack.process('nats-server').stop('SIGKILL')
    const { code, said } = await ask(['status'])
    expect(code).toBe(1)
    expect(said).toContain('cannot read the bus')
    expect(said).toMatch(/^treasury +[0-9,]+\.[0-9]{6} AUSD$/m)
    const trace = await ask(['trace', '<id>'])
    expect(trace.code).toBe(1)
    expect(trace.said).toContain('not read:\n  webhook deliveries: NATS cannot be reached')
    expect(trace.said).toContain('chain-relayer attempt')
    const growth = await ask(['growth', '--free', '50'])
    expect(growth.code).toBe(1)
    expect(growth.said).toMatch(/^payments\.journal +[1-9]/m)
    expect(growth.said).toContain('disk full in about')
    expect(growth.said).toEndWith('not read:\n  streams: NATS cannot be reached: CONNECTION_REFUSED')
  })

  test('while Postgres is down, unreadable parts are named and status never reports that all is well', async () => {
    await stack.process('postgres').stop('SIGKILL')
    const { code, said } = await ask(['status'])
    expect(code).toBe(1)
    expect(said).toContain('cannot read the rows')
    const trace = await ask(['trace', '<id>'])
    expect(trace.code).toBe(1)
    expect(trace.said).toContain('not read:\n  the database: ')
  })
})
