import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { and, eq, gt, sql } from 'drizzle-orm'
import { type Hex, hexToBigInt, isHex, parseTransaction } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { pause } from '#platform/deadline'
import { idFor } from '#shared/ids'
import { actors } from '#test/support/contracts'
import { holdLanes } from './lanes/held-lanes'
import { attempts, lanes, transactions } from './lanes/lane.store'
import { orderOf, type Task } from './operations/operation'
import { operations } from './operations/operation.table'
import { relayOnce } from './relay-loop'
import { deadLetters, outbox } from './schema.store'
import {
  freeze,
  type Intercept,
  linesOf,
  listening,
  newNonce,
  newRefId,
  newWallet,
  openFixture,
  take,
  until,
} from './test-support'
import { assignWaiting } from './transactions/assign'
import { inFlightWei } from './transactions/funding'

const fixture = await openFixture()
afterAll(fixture.close)
afterEach(() => {
  fixture.endpoint.intercept = undefined
})

const { database, chain } = fixture
const ana = actors.ana.address.toLowerCase() as `0x${string}`
const credit = (ausd = 1_000_000n, held = false): Task & { kind: 'credit' } => ({
  kind: 'credit',
  payload: { refId: newRefId(), wallet: ana, ausd: String(ausd), held },
})
const signedTake = async () => {
  const { key } = await newWallet(fixture)
  return take(await fixture.sign(key, { to: fixture.treasury.address, value: 1_000_000n, nonce: newNonce() }))
}
const sharesOf = async (wallet: `0x${string}`) => (await fixture.lineOf(wallet)).shares
const laneCount = () => chain.getTransactionCount({ address: fixture.keys[0]!.address })
const attemptsOf = (task: Task) =>
  database.read((db) =>
    db
      .select({ attempt: attempts.attempt, hash: attempts.hash, broadcasts: attempts.broadcasts })
      .from(operations)
      .innerJoin(attempts, and(eq(attempts.lane, operations.lane), eq(attempts.nonce, operations.nonce)))
      .where(eq(operations.cause, orderOf(task).cause)),
  )
const announced = (subject: string, cause: string) =>
  database.read((db) =>
    db
      .select()
      .from(outbox)
      .where(eq(outbox.id, idFor('message', `${subject}:${cause}`))),
  )

/** Makes the endpoint accept transactions and drop them. */
function dropAll() {
  fixture.endpoint.intercept = (method) =>
    method === 'eth_sendRawTransaction'
      ? Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, result: `0x${'00'.repeat(32)}` }))
      : undefined
}

describe('a transaction that no endpoint accepts', () => {
  test('is replaced instead of resent, with an alert, so that the lane continues', async () => {
    const context = listening(await fixture.begin())
    const refused: (number | undefined)[] = []
    fixture.endpoint.intercept = (method, _, [raw]) => {
      if (method !== 'eth_sendRawTransaction') return undefined
      const { gas, nonce } = parseTransaction(raw as Hex)
      if (gas === 21_000n) return undefined
      refused.push(nonce)
      return Promise.resolve(
        Response.json({
          jsonrpc: '2.0',
          id: 1,
          error: { code: -32603, message: 'Exceeds transaction gas limit' },
        }),
      )
    }
    const before = await laneCount()
    const task = credit()
    await fixture.command(task)
    await until(async () => {
      await relayOnce(context)
      return (await laneCount()) > before
    }, 'the nonce being used up')
    // A slow round may also have sent the call under the next nonce.
    expect(refused).not.toBeEmpty()
    expect(refused).toEqual([...new Set(refused)])
    const alarm = { msg: 'transaction not accepted', lane: fixture.keys[0]!.address.toLowerCase(), nonce: refused[0] }
    expect(context.raised[0]).toMatchObject({
      ...alarm,
      verdict: 'refused',
      answer: expect.stringMatching(/gas limit/),
    })
    expect(new Set(linesOf(context))).toEqual(new Set([alarm.msg]))
    fixture.endpoint.intercept = undefined
    expect((await fixture.finish(context, task)).state).toBe('settled')
  })

  /** Refuses the first sends that `isRefused` selects, with words that a node uses for bytes it will never take. */
  const refuseFirst = (most: number, isRefused: (raw: Hex) => boolean) => {
    const refused: Hex[] = []
    fixture.endpoint.intercept = (method, _, [raw]) => {
      if (method !== 'eth_sendRawTransaction' || refused.length >= most || !isRefused(raw as Hex)) return undefined
      refused.push(raw as Hex)
      const error = { code: -32603, message: 'failed to get chain id from upstream' }
      return Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, error }))
    }
    return refused
  }

  test('is sent again if nothing can replace it: a drip', async () => {
    const context = await fixture.begin()
    const { address } = await newWallet(fixture, 0n)
    await chain.setBalance({ address, value: 0n })
    const refused = refuseFirst(1, (raw) => parseTransaction(raw).value === context.settings.dripWei)
    const task: Task = { kind: 'drip', payload: { wallet: address.toLowerCase() as Hex } }
    await fixture.command(task)
    expect((await fixture.finish(context, task)).state).toBe('settled')
    expect(refused).toHaveLength(1)
    expect(await chain.getBalance({ address })).toBe(context.settings.dripWei)
  })

  test('is sent again if nothing can replace it: a noop', async () => {
    const context = await fixture.begin()
    const refused = refuseFirst(2, () => true)
    const task = credit()
    await fixture.command(task)
    expect((await fixture.finish(context, task)).state).toBe('settled')
    expect(refused.map((raw) => parseTransaction(raw).gas === 21_000n)).toEqual([false, true])
  })
})

describe('a credit order', () => {
  test('is put on the chain once and announced with its transaction', async () => {
    const context = await fixture.begin()
    const before = await sharesOf(ana)
    const task = credit(7_000_000n)
    await fixture.command(task)
    const done = await fixture.finish(context, task)
    expect(done).toMatchObject({ state: 'settled', kind: 'credit' })
    expect((await sharesOf(ana)) - before).toBeGreaterThan(0n)
    const [message] = await announced('relay.credit.settled', task.payload.refId)
    expect(message?.payload).toMatchObject({ txHash: done.txHash, wallet: ana })
  })

  test('repeated five times concurrently, and again later, is one operation and one transfer', async () => {
    const context = await fixture.begin()
    const before = await fixture.balanceOf(fixture.treasury.address)
    const task = credit(3_000_000n)
    await Promise.all(Array.from({ length: 5 }, () => fixture.command(task)))
    await fixture.finish(context, task)
    await fixture.command(task)
    await relayOnce(context)
    expect(before - (await fixture.balanceOf(fixture.treasury.address))).toBe(3_000_000n)
  })

  test('repeated under the same message id after its end is announced again', async () => {
    const context = await fixture.begin()
    const task = credit()
    await fixture.command(task, 'msg-again')
    await fixture.finish(context, task)
    await fixture.command(task, 'msg-again')
    const { refId } = task.payload
    const [first] = await announced('relay.credit.settled', refId)
    const [again] = await announced('relay.credit.settled', `${refId}:1`)
    expect(again?.payload).toEqual(first!.payload)
  })

  // guard: an order with different content is no repeat
  test('security: repeated with another amount is dead-lettered', async () => {
    const context = await fixture.begin()
    const task = credit(2_000_000n)
    await fixture.command(task)
    await fixture.finish(context, task)
    const before = await fixture.balanceOf(fixture.treasury.address)
    const forged = { ...task, payload: { ...task.payload, ausd: '9000000' } }
    await fixture.command(forged, 'msg-forged')
    await relayOnce(context)
    expect(await fixture.balanceOf(fixture.treasury.address)).toBe(before)
    const dead = await database.read((db) =>
      db.select().from(deadLetters).where(eq(deadLetters.messageId, 'msg-forged')),
    )
    expect(dead).toHaveLength(1)
  })
})

describe('a relayer process that ended', () => {
  test('between storing and sending is continued by the next one with the same bytes', async () => {
    const first = await fixture.begin()
    const task = credit()
    await fixture.command(task)
    await assignWaiting(first, await holdLanes(first))
    const [stored] = await attemptsOf(task)
    expect(stored).toMatchObject({ attempt: 1, broadcasts: 0 })
    const done = await fixture.finish(await fixture.begin(), task)
    expect(done.txHash).toBe(stored!.hash)
    expect(done.state).toBe('settled')
  })

  test('after sending is continued by a resend, which the chain takes once', async () => {
    const before = await fixture.balanceOf(fixture.treasury.address)
    const task = credit(1_500_000n)
    await fixture.command(task)
    await relayOnce(await fixture.begin())
    await fixture.finish(await fixture.begin(), task)
    expect(before - (await fixture.balanceOf(fixture.treasury.address))).toBe(1_500_000n)
    expect(await attemptsOf(task)).toHaveLength(1)
  })

  test('loses its lanes, and its later assignments are refused', async () => {
    const first = await fixture.begin()
    const held = await holdLanes(first)
    const second = await fixture.begin()
    await holdLanes(second)
    const task = credit()
    await fixture.command(task)
    const rows = () => database.read((db) => db.select().from(transactions))
    const before = (await rows()).length
    await assignWaiting(first, held)
    expect(await rows()).toHaveLength(before)
    expect((await fixture.finish(second, task)).state).toBe('settled')
  })
})

describe('an endpoint that lies', () => {
  const once = () => {
    let left = 1
    return () => left-- > 0
  }

  test.each([
    [
      'accepts it and responds with an error',
      async (forward: () => Promise<Response>) => {
        await forward()
        return Response.json({
          jsonrpc: '2.0',
          id: 1,
          error: { code: -32603, message: 'rejected' },
        })
      },
    ],
    [
      'accepts it and breaks off',
      async (forward: () => Promise<Response>) => {
        await forward()
        return new Response('bad gateway', { status: 502 })
      },
    ],
    ['accepts it and drops it', async () => Response.json({ jsonrpc: '2.0', id: 1, result: `0x${'00'.repeat(32)}` })],
    [
      'refuses it for its fee',
      async () =>
        Response.json({
          jsonrpc: '2.0',
          id: 1,
          error: { code: -32603, message: 'Transaction fee too low' },
        }),
    ],
  ])('that %s still leads to one credit at one nonce', async (_case, answer) => {
    const context = await fixture.begin()
    const [before, count] = [await fixture.balanceOf(fixture.treasury.address), await laneCount()]
    const first = once()
    fixture.endpoint.intercept = (method, forward) =>
      method === 'eth_sendRawTransaction' && first() ? answer(forward) : undefined
    const task = credit(1_250_000n)
    await fixture.command(task)
    expect((await fixture.finish(context, task)).state).toBe('settled')
    expect(before - (await fixture.balanceOf(fixture.treasury.address))).toBe(1_250_000n)
    expect((await laneCount()) - count).toBe(1)
  })

  test('about a receipt that vanishes ends no operation before the block is final', async () => {
    const context = await fixture.begin()
    let hidden = 6
    fixture.endpoint.intercept = (method) =>
      /^eth_get(Transaction|Block)Receipts?$/.test(method) && hidden-- > 0
        ? Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, result: null }))
        : undefined
    const task = credit()
    await fixture.command(task)
    await fixture.finish(context, task)
    expect(hidden).toBeLessThan(0)
    expect(await attemptsOf(task)).toHaveLength(1)
  })

  test('that is down for a while only delays the operation', async () => {
    const context = await fixture.begin()
    fixture.endpoint.intercept = async () => new Response('', { status: 503 })
    const task = credit()
    await fixture.command(task)
    await relayOnce(context)
    expect((await fixture.operationOf(task)).state).toBe('waiting')
    fixture.endpoint.intercept = undefined
    expect((await fixture.finish(context, task)).state).toBe('settled')
  })
})

describe('several operations in one transaction', () => {
  test('are mined together, and a bad one does not harm the others', async () => {
    const context = listening(await fixture.begin())
    const good = [credit(), credit(), credit()]
    const used = credit(4_000_000n)
    await fixture.command(used)
    await fixture.finish(context, used)
    // The chain has the ref with other content than our row, as after a restored backup.
    await database.read((db) => db.delete(operations).where(eq(operations.cause, used.payload.refId)))
    const bad = { ...used, payload: { ...used.payload, ausd: '5' } }
    const count = await laneCount()
    for (const task of [...good, bad]) await fixture.command(task)
    const ended = []
    for (const task of [...good, bad]) ended.push(await fixture.finish(context, task))
    expect(ended.map(({ state }) => state)).toEqual(['settled', 'settled', 'settled', 'failed'])
    expect(ended[3]!.reason).toBe('ref_conflict')
    const failed = { msg: 'operation failed', operationId: ended[3]!.id, kind: 'credit', reason: 'ref_conflict' }
    expect(context.raised).toMatchObject([failed])
    expect(new Set(ended.slice(0, 3).map(({ txHash }) => txHash)).size).toBe(1)
    expect((await laneCount()) - count).toBe(1)
  })

  test('count as done even if one was applied before', async () => {
    const context = await fixture.begin()
    const known = credit(1_000_000n)
    await fixture.command(known)
    await fixture.finish(context, known)
    await database.read((db) => db.delete(operations).where(eq(operations.cause, known.payload.refId)))
    const before = await fixture.balanceOf(fixture.treasury.address)
    const fresh = credit(1_000_000n)
    for (const task of [known, fresh]) await fixture.command(task)
    expect((await fixture.finish(context, known)).state).toBe('settled')
    expect((await fixture.finish(context, fresh)).state).toBe('settled')
    expect(before - (await fixture.balanceOf(fixture.treasury.address))).toBe(1_000_000n)
  })
})

test('security: the first of many freezes is sent before the last is examined', async () => {
  const context = await fixture.begin()
  const wallets = Array.from({ length: 40 }, () => privateKeyToAddress(generatePrivateKey()))
  const tasks = wallets.map((wallet) => freeze(wallet, true, 1n))
  for (const task of tasks) await fixture.command(task)
  const calls: string[] = []
  fixture.endpoint.intercept = (method, _, [call]) => {
    if (method === 'eth_sendRawTransaction') calls.push('sent')
    if (method === 'eth_call' && (call as { from?: string }).from) calls.push('examined')
    return undefined
  }
  for (const task of tasks) expect((await fixture.finish(context, task)).state).toBe('settled')
  expect(calls.indexOf('sent')).toBeLessThan(calls.lastIndexOf('examined'))
})

test('security: no transfer is examined while freezes of a slow round are not', async () => {
  const context = await fixture.begin()
  const tasks = Array.from({ length: 24 }, () => freeze(privateKeyToAddress(generatePrivateKey()), true, 1n))
  const transfer = await signedTake()
  for (const task of [...tasks, transfer]) await fixture.command(task)
  const examined: string[] = []
  fixture.endpoint.intercept = (method, forward, [call]) => {
    const { from, to } = call as { from?: string; to?: string }
    if (method !== 'eth_call' || !from) return undefined
    const isFreeze = to?.toLowerCase() === fixture.contracts.creditLine.toLowerCase()
    examined.push(isFreeze ? 'freeze' : 'transfer')
    return isFreeze ? pause(1_100).then(forward) : forward()
  }
  for (const task of [...tasks, transfer]) expect((await fixture.finish(context, task)).state).toBe('settled')
  expect(examined.indexOf('transfer')).toBeGreaterThan(examined.lastIndexOf('freeze'))
})

/** Has a credit get this nonce, and drops its transaction. */
async function assignedAt(nonce: number, context: Awaited<ReturnType<typeof fixture.begin>>) {
  dropAll()
  const task = credit()
  await fixture.command(task)
  await relayOnce(context)
  expect((await fixture.operationOf(task)).nonce).toBe(nonce)
  return task
}

const bumped = (context: Awaited<ReturnType<typeof fixture.begin>>, task: Task) =>
  until(async () => {
    await relayOnce(context)
    return (await attemptsOf(task)).length > 1
  }, 'a higher fee')

describe('a transaction that is not mined', () => {
  test('gets a higher fee at the same nonce, and one attempt is mined', async () => {
    const context = await fixture.begin()
    const count = await laneCount()
    dropAll()
    const task = credit()
    await fixture.command(task)
    await bumped(context, task)
    fixture.endpoint.intercept = undefined
    const done = await fixture.finish(context, task)
    const hashes = (await attemptsOf(task)).map(({ hash }) => hash)
    expect(hashes).toContain(done.txHash!)
    expect((await laneCount()) - count).toBe(1)
  })
})

/** Answers after the leases would have ended, as a slow endpoint does. */
async function slowly<T>(answer: () => Promise<T>): Promise<T> {
  await database.run((db) => db.update(lanes).set({ leasedUntil: sql`clock_timestamp() + interval '2 seconds'` }))
  await pause(2_500)
  return answer()
}

describe('although an endpoint is so slow that a round takes longer than a lease', () => {
  test('an order gets its nonce', async () => {
    const context = await fixture.begin()
    const [before, task] = [credit(), credit()]
    await fixture.command(before)
    await until(async () => {
      await relayOnce(context)
      return (await fixture.operationOf(before)).state === 'assigned'
    }, 'a nonce')
    await pause(1_000) // Its block is final then.
    await fixture.command(task)
    fixture.endpoint.intercept = (method, forward) =>
      method === 'eth_getTransactionReceipt' ? slowly(forward) : undefined
    await relayOnce(context)
    expect((await fixture.operationOf(before)).state).toBe('settled')
    expect((await fixture.operationOf(task)).state).toBe('assigned')
    fixture.endpoint.intercept = undefined
    expect((await fixture.finish(context, task)).state).toBe('settled')
  })

  test('a transaction that is not mined gets a higher fee', async () => {
    const context = await fixture.begin()
    const task = credit()
    await fixture.command(task)
    dropAll()
    const drop = fixture.endpoint.intercept
    fixture.endpoint.intercept = (method, forward, params) =>
      method === 'eth_getBlockByNumber' && params[0] === 'latest' ? slowly(forward) : drop?.(method, forward, params)
    await bumped(context, task)
    fixture.endpoint.intercept = undefined
    expect((await fixture.finish(context, task)).state).toBe('settled')
  })

  test('a nonce that a foreign user of the key took is given up', async () => {
    const context = listening(await fixture.begin())
    const count = await laneCount()
    const task = await assignedAt(count, context)
    const to = actors.budi.address
    const hash = await chain.sendTransaction({ account: fixture.keys[0]!, to, nonce: count, chain: null })
    await chain.waitForTransactionReceipt({ hash, pollingInterval: 50 })
    // The search reads the transactions of one block.
    fixture.endpoint.intercept = (method, forward, [, withTransactions]) =>
      method === 'eth_getBlockByNumber' && withTransactions === true ? slowly(forward) : undefined
    const later = { ...context, clock: () => Date.now() + 61_000 }
    expect(await fixture.finish(later, task)).toMatchObject({ state: 'settled', nonce: count + 1 })
    expect(linesOf(context)).toContain('lane key used by another sender')
  })
})

describe('a lane with a low balance', () => {
  test('security: signs for no more than it can pay, with any number of operations waiting', async () => {
    const address = fixture.keys[0]!.address
    const balanceWei = await chain.getBalance({ address })
    await chain.setBalance({ address, value: 50_000_000_000_000_000n })
    try {
      const context = await fixture.begin({ batchMax: 1 })
      const tasks = [credit(), credit(), credit(), credit()]
      for (const task of tasks) await fixture.command(task)
      await relayOnce(context)
      const [lane] = await holdLanes(context)
      const costs = lane!.open.map(({ attempts: [first] }) => first!.gas * first!.maxFeeWei)
      expect(costs.reduce((sum, cost) => sum + cost, 0n)).toBeLessThan(50_000_000_000_000_000n)
      for (const task of tasks) expect((await fixture.finish(context, task)).state).toBe('settled')
    } finally {
      await chain.setBalance({ address, value: balanceWei })
    }
  })

  test.each([
    ['credits', async () => credit()],
    ['transfers', signedTake],
  ] as const)('sends a part of the %s that wait if it cannot pay for all in one transaction', async (_, taskOf) => {
    const address = fixture.keys[0]!.address
    const context = await fixture.begin()
    const tasks: Task[] = []
    while (tasks.length < 12) tasks.push(await taskOf())
    const balanceWei = await chain.getBalance({ address })
    await chain.setBalance({ address, value: 130_000_000_000_000_000n })
    try {
      for (const task of tasks) await fixture.command(task)
      await relayOnce(context)
      const [lane] = await holdLanes(context)
      expect(lane!.open[0]!.operationIds.length).toBeGreaterThan(1)
      expect(inFlightWei(lane!.open)).toBeLessThanOrEqual(130_000_000_000_000_000n)
      for (const task of tasks) expect((await fixture.finish(context, task)).state).toBe('settled')
    } finally {
      await chain.setBalance({ address, value: balanceWei })
    }
  })

  // guard: a lane near its reserve accepts no new operation
  test('security: accepts no operation near its reserve, and raises an alert', async () => {
    const context = listening(await fixture.begin({ laneMinBalanceWei: 10n ** 30n }))
    const task = credit()
    await fixture.command(task)
    await relayOnce(context)
    expect((await fixture.operationOf(task)).state).toBe('waiting')
    const msg = 'lane balance too low for new transactions: fund it'
    expect(context.raised).toMatchObject([{ msg, lanes: [fixture.keys[0]!.address.toLowerCase()] }])
    const funded = listening(await fixture.begin())
    expect((await fixture.finish(funded, task)).state).toBe('settled')
    expect(funded.raised).toEqual([])
  })

  test('raises an alert if it cannot pay a higher fee, and pays it once it is funded', async () => {
    const address = fixture.keys[0]!.address
    const balanceWei = await chain.getBalance({ address })
    const context = listening(await fixture.begin())
    dropAll()
    const task = credit()
    await fixture.command(task)
    // However slow the round is, it raises no fee.
    const patient = { ...context, settings: { ...context.settings, bumpAfterMs: 600_000 } }
    try {
      await until(async () => {
        await relayOnce(patient)
        return (await fixture.operationOf(task)).state === 'assigned'
      }, 'a nonce')
      expect(context.raised).toEqual([])
      const [first] = (await holdLanes(context))[0]!.open[0]!.attempts
      await chain.setBalance({ address, value: first!.gas * first!.maxFeeWei })
      await until(async () => {
        await relayOnce(context)
        return context.raised.length > 0
      }, 'the alert')
      const { nonce } = await fixture.operationOf(task)
      const msg = 'lane balance too low for a fee bump: fund it'
      expect(context.raised).toMatchObject([{ msg, lane: address.toLowerCase(), nonce }])
    } finally {
      await chain.setBalance({ address, value: balanceWei })
    }
    expect(await attemptsOf(task)).toHaveLength(1)
    await bumped(context, task)
    fixture.endpoint.intercept = undefined
    expect((await fixture.finish(context, task)).state).toBe('settled')
  })
})

/** Makes the endpoint refuse to read an older state, as a node does that keeps only the newest. */
const forgetBefore =
  (oldest: bigint): Intercept =>
  (method, _, [, block]) => {
    if (method !== 'eth_getTransactionCount' || !isHex(block) || hexToBigInt(block) >= oldest) return undefined
    const error = { code: -32602, message: 'block requested not found, state may have been pruned' }
    return Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, error }))
  }

describe("a foreign user of a lane's key", () => {
  test('security: takes a nonce of ours: an alert is raised, and the order is carried out once, although the endpoint keeps few states', async () => {
    const context = await fixture.begin()
    const [account] = fixture.keys
    const count = await laneCount()
    const before = await sharesOf(ana)
    const task = await assignedAt(count, context)
    const to = actors.budi.address
    await chain.mine({ blocks: 100 })
    const hash = await chain.sendTransaction({ account: account!, to, nonce: count, chain: null })
    const { blockNumber } = await chain.waitForTransactionReceipt({ hash, pollingInterval: 50 })
    fixture.endpoint.intercept = forgetBefore(blockNumber - 1n)
    const later = { ...context, clock: () => Date.now() + 61_000 }
    const done = await fixture.finish(later, task)
    expect(done).toMatchObject({ state: 'settled', nonce: count + 1 })
    expect((await sharesOf(ana)) - before).toBeGreaterThan(0n)
  })

  test('is not the relayer, whose own replacement was mined and whose row of it was lost in a failover', async () => {
    const first = await fixture.begin()
    const raws = new Set<Hex>()
    fixture.endpoint.intercept = (method, _, [raw]) => {
      if (method !== 'eth_sendRawTransaction') return undefined
      raws.add(raw as Hex)
      return Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, result: `0x${'00'.repeat(32)}` }))
    }
    const { address } = await newWallet(fixture, 0n)
    await chain.setBalance({ address, value: 0n })
    const task: Task = { kind: 'drip', payload: { wallet: address.toLowerCase() as Hex } }
    await fixture.command(task)
    await until(async () => {
      await relayOnce(first)
      return raws.size > 1
    }, 'a replacement')
    const hash = await chain.sendRawTransaction({ serializedTransaction: [...raws].at(-1)! })
    await chain.waitForTransactionReceipt({ hash, pollingInterval: 50 })
    await database.run((db) => db.delete(attempts).where(gt(attempts.attempt, 1)))
    const next = listening(await fixture.begin())
    const done = await fixture.finish({ ...next, clock: () => Date.now() + 61_000 }, task)
    expect(done).toMatchObject({ state: 'settled', txHash: hash })
    expect(await chain.getBalance({ address })).toBe(next.settings.dripWei)
    expect(linesOf(next)).toEqual([])
  })
})

describe('a chain that does not advance', () => {
  test('security: causes no higher fee, an alert after half a minute, and every operation settles once it advances', async () => {
    const startMs = Date.now()
    let clock = () => startMs
    const context = listening({ ...(await fixture.begin()), clock: () => clock() })
    const roundAt = async (seconds: number) => {
      clock = () => startMs + seconds * 1_000
      await relayOnce(context)
    }
    const task = credit()
    await fixture.command(task)
    await chain.setIntervalMining({ interval: 0 })
    try {
      for (let seconds = 1; seconds <= 12; seconds++) await roundAt(seconds)
      expect(await attemptsOf(task)).toHaveLength(1)
      expect(linesOf(context)).toEqual([])
      await roundAt(60)
      const msg = 'chain head has not advanced, fee bumps paused'
      expect(context.raised).toMatchObject([{ msg, blockNumber: expect.stringMatching(/^\d+$/) }])
      expect(await attemptsOf(task)).toHaveLength(1)
    } finally {
      await chain.setIntervalMining({ interval: 1 })
      await chain.mine({ blocks: 4 })
    }
    clock = Date.now
    expect((await fixture.finish(context, task)).state).toBe('settled')
  })
})

test('a lane whose key was used elsewhere assigns no nonces and reports a fault', async () => {
  await chain.setNonce({ address: fixture.keys[0]!.address, nonce: (await laneCount()) + 1 })
  const context = await fixture.begin()
  const [lane] = await holdLanes(context)
  expect(lane?.sound).toBe(false)
  const waiting = credit()
  await fixture.command(waiting)
  await relayOnce(context)
  expect((await fixture.operationOf(waiting)).state).toBe('waiting')
})
