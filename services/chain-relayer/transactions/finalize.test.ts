import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { encodeFunctionData, type Hex, keccak256, numberToHex } from 'viem'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { openRpcEndpoints } from '#shared/chain/endpoints'
import { actorKeys, actors } from '#test/support/contracts'
import { openNode } from '../chain/node'
import { type Context, nonceKey } from '../context'
import { addressesOf, type HeldLane, holdLanes } from '../lanes/held-lanes'
import { findOpen } from '../lanes/lane.store'
import { orderOf, type Task } from '../operations/operation'
import { postponeOperation } from '../operations/operation.store'
import { operations } from '../operations/operation.table'
import { relayOnce } from '../relay-loop'
import { linesOf, listening, newRefId, openFixture, until } from '../test-support'
import { finalize } from './finalize'

const fixture = await openFixture()
afterAll(fixture.close)
afterEach(() => {
  fixture.endpoint.intercept = undefined
})
const credits = (count: number) =>
  Array.from(
    { length: count },
    (): Task => ({
      kind: 'credit',
      payload: { refId: newRefId(), wallet: actors.ana.address, ausd: '1000000', held: false },
    }),
  )

/** Lets the endpoint answer every receipt without its logs. */
function omitLogs(omitted = () => {}) {
  fixture.endpoint.intercept = (method, forward) => {
    if (method !== 'eth_getTransactionReceipt') return undefined
    return forward().then(async (reply) => {
      const answer = (await reply.json()) as { result: object | null }
      if (!answer.result) return Response.json(answer)
      omitted()
      return Response.json({ ...answer, result: { ...answer.result, logs: [] } })
    })
  }
}

async function callsUntilFinal(count: number) {
  const context = await fixture.begin({ batchMax: 1 })
  const calls = new Map<string, number>()
  fixture.endpoint.intercept = (method, _, [call]) => {
    const isSimulation = method === 'eth_call' && (call as { from?: string }).from !== undefined
    const name = isSimulation ? 'simulation' : method
    calls.set(name, (calls.get(name) ?? 0) + 1)
    return undefined
  }
  await relayOnce(context)
  const tasks = credits(count)
  for (const task of tasks) await fixture.command(task)
  await until(async () => {
    await relayOnce(context)
    const rows = await Promise.all(tasks.map((task) => fixture.operationOf(task)))
    return rows.every(({ state }) => state === 'settled')
  }, 'the end of all')
  fixture.endpoint.intercept = undefined
  return calls
}

describe('the finality of a transaction', () => {
  test('costs one receipt and no more than one block per transaction', async () => {
    const calls = await callsUntilFinal(12)
    expect(calls.get('eth_sendRawTransaction')).toBeGreaterThanOrEqual(12)
    expect(calls.get('eth_getTransactionReceipt')).toBe(12)
    expect(calls.get('eth_getBlockByNumber')).toBeLessThanOrEqual(60)
  })

  test('of several operations is not taken from a receipt without their logs', async () => {
    const context = await fixture.begin()
    let bare = 0
    omitLogs(() => {
      bare += 1
    })
    const tasks = credits(2)
    for (const task of tasks) await fixture.command(task)
    const statesOf = async () => (await Promise.all(tasks.map(fixture.operationOf))).map(({ state }) => state)
    await until(async () => {
      await relayOnce(context)
      return bare > 2 || (await statesOf()).includes('settled')
    }, 'receipts without logs')
    expect(await statesOf()).toEqual(['assigned', 'assigned'])
    fixture.endpoint.intercept = undefined
    for (const task of tasks) expect((await fixture.finish(context, task)).state).toBe('settled')
  })

  test('is taken from another endpoint if one has no receipt for a nonce that is used', async () => {
    const context = await fixture.begin()
    const node: typeof context.node = {
      ...context.node,
      receiptOf: async (hash, accepts) => (accepts ? context.node.receiptOf(hash, accepts) : undefined),
    }
    const [task] = credits(1)
    await fixture.command(task!)
    expect((await fixture.finish({ ...context, node }, task!)).state).toBe('settled')
  })

  describe('is taken from a second endpoint if the first one', () => {
    const onBoth = async (): Promise<Context> => {
      const rpcUrls = [fixture.endpoint.url, fixture.rpcUrl]
      const node = openNode({ endpoints: openRpcEndpoints({ rpcUrls }), chainId: 10143 })
      return { ...(await fixture.begin()), node }
    }
    const settles = async (context: Context, task: Task) => {
      const isSettled = async () => (await fixture.operationOf(task)).state === 'settled'
      await until(async () => (await relayOnce(context)) ?? isSettled(), 'the settlement')
    }

    test('names another block in every receipt', async () => {
      const context = await onBoth()
      lieOfBlocks(false)
      const [task] = credits(1)
      await fixture.command(task!)
      await settles(context, task!)
    })

    test('has no logs of any receipt', async () => {
      const context = await onBoth()
      omitLogs()
      const tasks = credits(2)
      for (const task of tasks) await fixture.command(task)
      for (const task of tasks) await settles(context, task)
    })

    test('counts no transactions after its state stopped, although its blocks go on', async () => {
      const context = await onBoth()
      const address = fixture.keys[0]!.address
      const before = await context.node.countAt(address, 'latest')
      fixture.endpoint.intercept = (method) =>
        method === 'eth_getTransactionCount'
          ? Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, result: numberToHex(before) }))
          : undefined
      const [task] = credits(1)
      await fixture.command(task!)
      await settles(context, task!)
    })
  })

  // guard: an outcome is reported once its block is final
  test('is taken only once its block is final', async () => {
    const context = await fixture.begin()
    const before = await fixture.balanceOf(fixture.treasury.address)
    let head: Promise<string> | undefined
    fixture.endpoint.intercept = (method, forward, [block]) => {
      if (method !== 'eth_getBlockByNumber' || block !== 'finalized') return undefined
      head ??= forward().then((reply) => reply.text())
      return head.then((text) => new Response(text))
    }
    const [task] = credits(1)
    await fixture.command(task!)
    await until(async () => {
      await relayOnce(context)
      return (await fixture.balanceOf(fixture.treasury.address)) < before
    }, 'the credit on the chain')
    await relayOnce(context)
    expect((await fixture.operationOf(task!)).state).toBe('assigned')
    fixture.endpoint.intercept = undefined
    expect((await fixture.finish(context, task!)).state).toBe('settled')
  })

  /** Makes the endpoint report other block hashes in receipts. */
  function lieOfBlocks(alsoByNumber: boolean) {
    const told = { lies: 0 }
    const discarded = `0x${'ab'.repeat(32)}`
    let number = ''
    fixture.endpoint.intercept = (method, forward, [asked]) => {
      const isReceipt = method === 'eth_getTransactionReceipt'
      const isBlock = alsoByNumber && method === 'eth_getBlockByNumber' && asked === number
      if (!isReceipt && !isBlock) return undefined
      return forward().then(async (reply) => {
        const answer = (await reply.json()) as { result: { blockNumber?: string } | null }
        if (!answer.result) return Response.json(answer)
        if (isBlock) return Response.json({ ...answer, result: { ...answer.result, hash: discarded } })
        told.lies += 1
        number = answer.result.blockNumber!
        return Response.json({ ...answer, result: { ...answer.result, blockHash: discarded } })
      })
    }
    return told
  }

  // guard: a receipt counts only while its block is unchanged
  test.each([
    ['whose block is another by now', false],
    ['of a discarded block that the endpoint still serves', true],
  ])('is not taken from a receipt %s', async (_, alsoByNumber) => {
    const context = await fixture.begin({ batchMax: 1 })
    const told = lieOfBlocks(alsoByNumber)
    const [task] = credits(1)
    await fixture.command(task!)
    const stateOf = async () => (await fixture.operationOf(task!)).state
    await until(async () => {
      await relayOnce(context)
      return told.lies > 2 || (await stateOf()) === 'settled'
    }, 'receipts of a block that is gone')
    expect(await stateOf()).toBe('assigned')
    fixture.endpoint.intercept = undefined
    expect((await fixture.finish(context, task!)).state).toBe('settled')
  })

  test('is not concluded from a used nonce without a receipt: after a minute an alert is raised', async () => {
    const context = listening(await fixture.begin({ batchMax: 1 }))
    fixture.endpoint.intercept = (method) =>
      method === 'eth_getTransactionReceipt'
        ? Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, result: null }))
        : undefined
    const [task] = credits(1)
    await fixture.command(task!)
    let isFinal = false
    await until(async () => {
      await relayOnce(context)
      const { lane, nonce } = await fixture.operationOf(task!)
      if (nonce === null) return false
      const { number } = await context.node.finalizedHead()
      isFinal = (await context.node.countAt(lane!, number)) > nonce
      return isFinal
    }, 'the transaction being final')
    await relayOnce(context)
    expect(context.raised).toEqual([])
    const later = { ...context, clock: () => Date.now() + 61_000 }
    // On a slow machine, the head of the chain may seem to stand still, too.
    const alerts = () => context.raised.filter(({ msg }) => msg === 'nonce used but no receipt found')
    await until(async () => {
      await relayOnce(later)
      return alerts().length > 0
    }, 'the alert')
    const { state, lane, nonce } = await fixture.operationOf(task!)
    expect(state).toBe('assigned')
    expect(alerts()).toMatchObject([{ lane, nonce }])
    fixture.endpoint.intercept = undefined
    const now = listening(await fixture.begin())
    expect((await fixture.finish(now, task!)).state).toBe('settled')
    expect(now.raised).toEqual([])
  })

  const pause = (functionName: 'pause' | 'unpause') =>
    fixture.submit(
      actorKeys.admin,
      fixture.contracts.creditLine,
      encodeFunctionData({ abi: creditLineAbi, functionName }),
    )

  test('that reverts keeps the try that another instance counted before the nonce was given', async () => {
    const context = await fixture.begin({ batchMax: 1 })
    const [task] = credits(1)
    let isCounted = false
    fixture.endpoint.intercept = (method, _, [call]) => {
      if (method !== 'eth_call' || (call as { from?: string }).from === undefined) return undefined
      const { id } = orderOf(task!)
      const count = isCounted ? undefined : fixture.database.run((db) => postponeOperation(db, id, 0, 1))
      isCounted = true
      return Promise.resolve(count).then(() => Response.json({ jsonrpc: '2.0', id: 1, result: '0x' }))
    }
    await pause('pause')
    await fixture.command(task!)
    const { nonce } = await assigned(context, task!)
    await until(async () => {
      await relayOnce(context)
      const now = await fixture.operationOf(task!)
      return now.nonce !== nonce || now.state !== 'assigned'
    }, 'the revert').finally(() => pause('unpause'))
    expect(await fixture.operationOf(task!)).toMatchObject({ tries: 2 })
    fixture.endpoint.intercept = undefined
    expect((await fixture.finish(context, task!)).state).toBe('settled')
  })

  test('that reverts again and again fails the operation with an alert', async () => {
    const context = listening(await fixture.begin({ batchMax: 1 }))
    // The endpoint simulates each call as if the credit line were not paused.
    fixture.endpoint.intercept = (method, _, [call]) =>
      method === 'eth_call' && (call as { from?: string }).from !== undefined
        ? Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, result: '0x' }))
        : undefined
    await pause('pause')
    const [task] = credits(1)
    await fixture.command(task!)
    const ended = await fixture.finish(context, task!).finally(() => pause('unpause'))
    expect(ended).toMatchObject({ state: 'failed', reason: 'reverted' })
    const msg = 'operation reverted permanently'
    const txHash = expect.stringMatching(/^0x[0-9a-f]{64}$/)
    expect(context.raised).toMatchObject([{ msg, operationId: ended.id, kind: 'credit', txHash }])
  })

  test('ends a transaction although another instance ended its operation', async () => {
    const context = await fixture.begin()
    const [task] = credits(1)
    await fixture.command(task!)
    const { id } = await assigned(context, task!)
    const ended = { state: 'failed', reason: 'by another' } as const
    await fixture.database.run((db) => db.update(operations).set(ended).where(eq(operations.id, id)))
    const held = await holdLanes(context)
    await until(async () => {
      await relayOnce(context)
      return (await findOpenOf(context, held)).length === 0
    }, 'the end of the transaction')
    expect(await fixture.operationOf(task!)).toMatchObject(ended)
  })

  test('is that of the stored operations, not of those that had the nonce before a restore', async () => {
    const context = await fixture.begin({ batchMax: 1 })
    const [one, other] = credits(2)
    await fixture.command(one!)
    const { id } = await fixture.finish(context, one!)
    const restored = { state: 'assigned', txHash: null } as const
    await fixture.database.run((db) => db.update(operations).set(restored).where(eq(operations.id, id)))
    await fixture.command(other!)
    const { lane, nonce } = await assigned(context, other!)
    context.memory.carried.set(nonceKey(lane!, nonce!), [await fixture.operationOf(one!)])
    expect((await fixture.finish(context, other!)).state).toBe('settled')
    expect(await fixture.operationOf(one!)).toMatchObject(restored)
  })

  test('is not taken for a foreign transaction by an instance that lost its lane', async () => {
    const stalled = listening(await fixture.begin({ batchMax: 1 }))
    fixture.endpoint.intercept = (method, _, [raw]) =>
      method === 'eth_sendRawTransaction'
        ? Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, result: keccak256(raw as Hex) }))
        : undefined
    const [task] = credits(1)
    await fixture.command(task!)
    await assigned(stalled, task!)
    const held = await holdLanes(stalled)
    const next = await fixture.begin({ batchMax: 1 })
    const first = held[0]!.open[0]!.attempts[0]!.hash
    const isRenewed = async () => (await attemptsOf(next, held)).some((hash) => hash !== first)
    await until(async () => {
      await relayOnce(next)
      return isRenewed()
    }, 'a renewal by the next instance')
    // Only the renewal of the two attempts is mined.
    fixture.endpoint.intercept = undefined
    const renewal = await rawOf(next, held, first)
    await fixture.chain.sendRawTransaction({ serializedTransaction: renewal })
    await until(async () => {
      const { number } = await stalled.node.finalizedHead()
      return (await stalled.node.countAt(held[0]!.lane.address, number)) > held[0]!.open[0]!.nonce
    }, 'the renewal being final')
    const late = { ...stalled, clock: () => stalled.clock() + 120_000 }
    await finalize(late, held)
    expect(linesOf(stalled)).not.toContain('lane key used by another sender')
    expect((await fixture.finish(await fixture.begin(), task!)).state).toBe('settled')
  })
})

async function assigned(context: Context, task: Task) {
  await until(async () => {
    await relayOnce(context)
    return (await fixture.operationOf(task)).state === 'assigned'
  }, 'a nonce for the operation')
  return fixture.operationOf(task)
}

const openOf = async (context: Context, held: readonly HeldLane[]) => (await findOpenOf(context, held))[0]!.attempts
const findOpenOf = (context: Context, held: readonly HeldLane[]) =>
  context.database.read((db) => findOpen(db, addressesOf(held)))
const attemptsOf = async (context: Context, held: readonly HeldLane[]) =>
  (await openOf(context, held)).map(({ hash }) => hash)
const rawOf = async (context: Context, held: readonly HeldLane[], first: string) =>
  (await openOf(context, held)).find(({ hash }) => hash !== first)!.raw
