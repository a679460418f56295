import { afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Person } from '#infra/demo/person'
import { repositoryDir } from '#infra/local/folders'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import type { RpcFaults } from '#infra/sandbox/rpc-proxy/faults'
import type { RpcProxy } from '#infra/sandbox/rpc-proxy/proxy'
import { groupStack } from '../runner/group'
import { query } from '../support/database'
import { borrower } from '../support/flows'
import { type Served, servesTruth, truthOf, verify } from '../support/verify'
import { becomes, suspend } from '../support/wait'

const rebuildScript = 'services/indexer-reader/rebuild.ts'
let stack: Stack
let proxy: RpcProxy
let person: Person

beforeAll(async () => {
  stack = groupStack()
  proxy = stack.rpcProxy!
  person = await borrower(stack, { ausdMicro: 100_000_000n, wei: 10n ** 19n })
})
afterEach(() => proxy.setFaults({}))

async function goThroughCycle() {
  await person.draw(2_000_000n)
  await person.repay(2_000_000n)
}

describe('the record matches the chain while the endpoint', () => {
  test.each<[string, Partial<RpcFaults>]>([
    ['takes no more than 3 blocks', { logsRangeMax: 3 }],
    ['answers 413 to more than 5 blocks', { logsRangeMax: 5, logsRangeStatus: 413 }],
    ['returns no more than 2 logs of several blocks', { logsResultsMax: 2 }],
    ['clamps toBlock without a word', { logsClampBlocks: 4 }],
    ['leaves each log out at the first read, and some at any', { lateLogsReads: 1, partialLogsRate: 0.1, seed: 2 }],
    ['lets its head go backwards', { headBackRate: 0.3, headBackBlocks: 6, seed: 4 }],
    ['lags behind', { headLagBlocks: 6 }],
    ['answers 429 or cuts connections', { tooManyRequestsRate: 0.2, disconnectRate: 0.2, seed: 6 }],
    ['is slow', { delayMs: 120 }],
    ['sometimes answers nothing at all', { hangRate: 0.03, seed: 8 }],
  ])('%s', async (_, faults) => {
    proxy.setFaults(faults)
    await goThroughCycle()
    // The repayment is mined, but not final at first.
    const outcome = async () => (await servesTruth(stack, person.wallet)).history.cycles.at(-1)?.outcome
    await becomes(outcome, 'Qualified')
  })
})

const withoutHistory = (truth: object) => ({ ...truth, history: null, indexer: 'unavailable' })

const inARow = 5
/**
 * Measures responses, of which the middle one of five counts; it waits 230 ms for the reader. A busy machine may be too
 * slow, so the five may be repeated.
 */
async function answersWithoutHistory() {
  const body = withoutHistory(await truthOf(stack, person.wallet))
  const row = async () => {
    const answers: Served[] = []
    for (let asked = 0; asked < inARow; asked++) answers.push(await verify(stack, person.wallet))
    const times = answers.map(({ tookMs }) => tookMs).sort((left, right) => left - right)
    const told = answers.map((answer) => ({ status: answer.status, body: answer.body }))
    return { told, soon: times[2]! <= 300 }
  }
  await becomes(row, { told: Array(inARow).fill({ status: 200, body }), soon: true })
}

const reader = () => stack.process('indexer-reader')

describe('the gateway answers within 300 ms, complete but for the history, when the reader', () => {
  test('is down', async () => {
    await reader().stop('SIGKILL')
    await answersWithoutHistory()
    reader().start()
    await servesTruth(stack, person.wallet)
  })

  test('cannot continue', async () => {
    await suspend(reader().pid())
    try {
      await answersWithoutHistory()
    } finally {
      reader().kill('SIGCONT')
    }
    await servesTruth(stack, person.wallet)
  })

  test('lags beyond its limit', async () => {
    proxy.setFaults({ headLagBlocks: 60 })
    await waitUntil(
      'the limit being passed',
      async () => (await verify(stack, person.wallet)).body.indexer === 'unavailable',
    )
    proxy.setFaults({ headLagBlocks: 0, logsRangeMax: 100 })
    await servesTruth(stack, person.wallet)
  })

  test('rebuilds everything with nothing to serve', async () => {
    proxy.setFaults({ delayMs: 100 })
    const truth = await servesTruth(stack, person.wallet)
    await query(stack, `update indexer_reader.cursors set state = 'retired'`)
    const seen: unknown[] = []
    await waitUntil('the new projection serving', async () => {
      const { status, body } = await verify(stack, person.wallet)
      if (status !== 503) seen.push(body)
      return body.indexer === 'ok'
    })
    const absent = withoutHistory(truth)
    expect(seen.length).toBeGreaterThan(1)
    expect(seen.at(-1)).toEqual(truth)
    for (const body of seen.slice(0, -1)) expect(body).toEqual(absent)
  })
})

test('a rebuild by one command never removes the record', async () => {
  const truth = await servesTruth(stack, person.wallet)
  const { chain } = stack.info
  const [cursor] = await query<{ deploy_block: string }>(
    stack,
    `select deploy_block from indexer_reader.cursors where state = 'serving'`,
  )
  const rebuild = Bun.spawn([process.execPath, join(repositoryDir, rebuildScript)], {
    env: {
      DATABASE_URL: stack.adminUrl,
      CHAIN_ID: String(chain.chainId),
      CREDIT_LINE_ADDRESS: chain.creditLine,
      DEPLOY_BLOCK: cursor!.deploy_block,
    },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const statesOf: string[] = []
  while (rebuild.exitCode === null) {
    const cursors = await query(stack, `select from indexer_reader.cursors where state = 'serving'`)
    expect(cursors).toHaveLength(1)
    const { status, body } = await verify(stack, person.wallet)
    // The record is served without the part of a late reader.
    if (status !== 503) expect([truth, withoutHistory(truth)]).toContainEqual(body)
    statesOf.push(body.indexer)
  }
  expect(statesOf).toContain('ok')
  expect({ code: rebuild.exitCode, said: await new Response(rebuild.stderr).text() }).toEqual({
    code: 0,
    said: '',
  })
  await servesTruth(stack, person.wallet)
})

describe('when the chain cannot be read, the response is 503 with Retry-After:', () => {
  test.each<[string, Partial<RpcFaults>]>([
    ['connections are cut', { disconnectRate: 1 }],
    ['429 to everything', { tooManyRequestsRate: 1 }],
    ['no answer at all', { hangRate: 1 }],
  ])('%s', async (_, faults) => {
    proxy.setFaults(faults)
    const { status, body, headers } = await verify(stack, person.wallet)
    expect(status).toBe(503)
    expect(body).toEqual({ error: expect.any(String) })
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    proxy.setFaults({})
    await servesTruth(stack, person.wallet)
  })
})
