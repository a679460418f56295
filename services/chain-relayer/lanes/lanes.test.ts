import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import { encodeFunctionData, type Hex, numberToHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { openRpcEndpoints } from '#shared/chain/endpoints'
import { laneRoles, roleHash } from '#shared/chain/lane-roles'
import { refOf } from '#shared/chain/ref'
import { actorKeys, actors } from '#test/support/contracts'
import { transferDigest } from '../chain/authorization'
import { openNode } from '../chain/node'
import { type Context, newProcess } from '../context'
import { countSigned, signedTotals } from '../keys/signed-amounts.store'
import type { Task } from '../operations/operation'
import { relayOnce } from '../relay-loop'
import {
  freeze,
  linesOf,
  listening,
  newNonce,
  newOwnedWallet,
  newRefId,
  newWallet,
  openFixture,
  take,
  until,
  verify,
} from '../test-support'
import { assignWaiting } from '../transactions/assign'
import { holdLanes, laneFault } from './held-lanes'
import { type Lane, lanes, recordFault, releaseLanes } from './lane.store'

const fixture = await openFixture(2)
afterAll(fixture.close)
afterEach(() => {
  fixture.endpoint.intercept = undefined
})

const credit = (): Task => ({
  kind: 'credit',
  payload: {
    refId: newRefId(),
    wallet: actors.ana.address,
    ausd: '1000000',
    held: false,
  },
})
const order = async (count: number) => {
  const tasks = Array.from({ length: count }, credit)
  for (const task of tasks) await fixture.command(task)
  return tasks
}

const drip = (): Task => ({
  kind: 'drip',
  payload: { wallet: privateKeyToAccount(generatePrivateKey()).address },
})

async function takeByContract(): Promise<Task> {
  const { account, wallet, wrap } = await newOwnedWallet(fixture)
  const window = { validAfter: '0', validBefore: '4000000000' }
  const terms = { from: wallet, to: fixture.treasury.address, value: '1000000', ...window, nonce: newNonce() }
  const digest = transferDigest(fixture.contracts.domain, terms)
  return take({ ...terms, signature: wrap(await account.sign({ hash: digest })) })
}

const lower = (address: string) => address.toLowerCase() as Hex

const dayMicro = 10n ** 12n
const dayLimit = fixture.signersOf({ credit: { most: dayMicro, day: dayMicro } })
/** Counts as much as a lane may sign in a day. */
const spendDay = (address: string) =>
  fixture.database.transaction((tx) =>
    countSigned(tx, lower(address), 'credit', [{ spending: 'credit', identity: newNonce(), amount: dayMicro }]),
  )
const forgetSpent = () => fixture.database.run((db) => db.delete(signedTotals))

async function setRoles(functionName: 'grantRole' | 'revokeRole', lane: Hex) {
  for (const role of laneRoles.map(roleHash)) {
    const data = encodeFunctionData({ abi: creditLineAbi, functionName, args: [role, lane] })
    await fixture.submit(actorKeys.admin, fixture.contracts.creditLine, data)
  }
}

describe('two lanes', () => {
  test('share the work', async () => {
    const context = await fixture.begin({ batchMax: 1 })
    const tasks = await order(6)
    const ended = []
    for (const task of tasks) ended.push(await fixture.finish(context, task))
    expect(ended.map(({ state }) => state)).toEqual(Array(6).fill('settled'))
    expect(new Set(ended.map(({ lane }) => lane)).size).toBe(2)
    expect(new Set(ended.map(({ lane, nonce }) => `${lane}:${nonce}`)).size).toBe(6)
  })

  test('of which one has no balance: the other is assigned all operations of a round', async () => {
    const context = await fixture.begin({ batchMax: 1 })
    const address = fixture.keys[1]!.address
    const balanceWei = await fixture.chain.getBalance({ address })
    await fixture.chain.setBalance({ address, value: 0n })
    try {
      const tasks = await order(4)
      await relayOnce(context)
      const ended = await Promise.all(tasks.map((task) => fixture.operationOf(task)))
      expect(ended.map(({ state }) => state)).not.toContain('waiting')
      expect(new Set(ended.map(({ lane, nonce }) => `${lane}:${nonce}`)).size).toBe(4)
      for (const task of tasks) expect((await fixture.finish(context, task)).state).toBe('settled')
    } finally {
      await fixture.chain.setBalance({ address, value: balanceWei })
    }
  })

  // The first of two equally free lanes sends, so each of them is tried as the one that is low.
  test.each([0, 1])(
    'of which lane %d is low on coin: the other drips and moves the AUSD of a contract wallet',
    async (at) => {
      const floorWei = 20n * 10n ** 18n
      const context = listening(await fixture.begin({ laneMinBalanceWei: floorWei }))
      const [low, other] = [fixture.keys[at]!.address, fixture.keys[1 - at]!.address]
      const balanceWei = await fixture.chain.getBalance({ address: low })
      const tasks = [drip(), await takeByContract()]
      await fixture.chain.setBalance({ address: low, value: floorWei + 10n ** 15n })
      try {
        for (const task of tasks) await fixture.command(task)
        for (const task of tasks) {
          const { state, lane } = await fixture.finish(context, task)
          expect({ state, lane }).toEqual({ state: 'settled', lane: lower(other) })
        }
        expect(context.raised).toEqual([])
      } finally {
        await fixture.chain.setBalance({ address: low, value: balanceWei })
      }
    },
  )

  test('of which one has reached its daily limit: the other signs, and no alert is raised', async () => {
    const [spent, other] = fixture.keys.map(({ address }) => address)
    const context = { ...listening(await fixture.begin()), ...dayLimit }
    const balanceWei = await fixture.chain.getBalance({ address: other! })
    // The lane at its limit is the freest.
    await fixture.chain.setBalance({ address: other!, value: 5n * 10n ** 18n })
    await spendDay(spent!)
    try {
      for (const tasks of [await order(1), await order(3)])
        for (const task of tasks) {
          const { state, lane } = await fixture.finish(context, task)
          expect({ state, lane }).toEqual({ state: 'settled', lane: lower(other!) })
        }
      expect(context.raised).toEqual([])
    } finally {
      await forgetSpent()
      await fixture.chain.setBalance({ address: other!, value: balanceWei })
    }
  })

  describe('of which one has lost its roles:', () => {
    const [without, other] = fixture.keys.map(({ address }) => address) as [Hex, Hex]
    const balances = new Map<Hex, bigint>()
    beforeAll(async () => {
      for (const address of [without, other]) balances.set(address, await fixture.chain.getBalance({ address }))
      // The lane without roles is the freest.
      await fixture.chain.setBalance({ address: other, value: 5n * 10n ** 18n })
      await setRoles('revokeRole', without)
    })
    afterAll(async () => {
      await setRoles('grantRole', without)
      for (const [address, value] of balances) await fixture.chain.setBalance({ address, value })
    })
    const flag = async (): Promise<Task> => verify(lower((await newWallet(fixture, 0n)).address), true, 1n)

    test.each<[string, () => Promise<Task[]>]>([
      ['a credit', () => order(1)],
      ['several credits', () => order(3)],
      [
        'a verification',
        async () => {
          const task = await flag()
          await fixture.command(task)
          return [task]
        },
      ],
    ])('the other sends %s, with an alert', async (_, ordered) => {
      const context = listening(await fixture.begin())
      for (const task of await ordered()) {
        const { state, lane, tries } = await fixture.finish(context, task)
        expect({ state, lane, tries }).toEqual({ state: 'settled', lane: lower(other), tries: 0 })
      }
      expect(linesOf(context)).toEqual(['lane without its role on the credit line'])
    })

    test('and then the other as well, several credits wait without a try until one has them again', async () => {
      await setRoles('revokeRole', other)
      const context = listening(await fixture.begin())
      const tasks = await order(3)
      await until(async () => {
        await relayOnce(context)
        return linesOf(context).includes('operation blocked: treasury, pause, freeze or role')
      }, 'an alarm')
      const found = await Promise.all(tasks.map((task) => fixture.operationOf(task)))
      expect(found.map(({ state, tries }) => ({ state, tries }))).toEqual(
        tasks.map(() => ({ state: 'waiting', tries: 0 })),
      )
      await setRoles('grantRole', other)
      for (const task of tasks)
        expect(await fixture.finish(context, task)).toMatchObject({ state: 'settled', tries: 0 })
    })

    test('an order that it was assigned before goes to the other', async () => {
      await setRoles('grantRole', without)
      const context = await fixture.begin()
      const [task] = await order(1)
      await assignWaiting(context, await holdLanes(context))
      expect((await fixture.operationOf(task!)).lane).toBe(lower(without))
      await setRoles('revokeRole', without)
      const { state, lane, tries } = await fixture.finish(context, task!)
      expect({ state, lane, tries }).toEqual({ state: 'settled', lane: lower(other), tries: 1 })
    })
  })

  test('work independently when one is blocked', async () => {
    const context = await fixture.begin({ batchMax: 1, bumpAfterMs: 60_000 })
    const blocked = fixture.keys[1]!.address.toLowerCase()
    const tasks = await order(4)
    // The endpoint accepts every transaction, then drops those of one lane.
    const yes = async () => Response.json({ jsonrpc: '2.0', id: 1, result: refOf('yes') })
    fixture.endpoint.intercept = (method) => (method === 'eth_sendRawTransaction' ? yes() : undefined)
    await relayOnce(context)
    const held = await holdLanes(context)
    const open = held.find(({ lane }) => lane.address === blocked)!.open
    const forgotten = new Set<unknown>(open.map(({ attempts }) => attempts[0]!.raw))
    expect(forgotten.size).toBeGreaterThan(0)
    fixture.endpoint.intercept = (_method, _forward, [raw]) => (forgotten.has(raw) ? yes() : undefined)
    await until(async () => {
      await relayOnce(context)
      const states = await Promise.all(tasks.map((task) => fixture.operationOf(task)))
      return states.filter(({ state }) => state === 'settled').length === 4 - forgotten.size
    }, 'the end of the other lane')
    fixture.endpoint.intercept = undefined
    for (const task of tasks) expect((await fixture.finish(context, task)).state).toBe('settled')
  })
})

describe('a lane whose key was replaced', () => {
  const rounds = (context: Context, fact: () => Promise<boolean>, what: string) =>
    until(async () => {
      await relayOnce(context)
      return fact()
    }, what)
  const stateOf = async (task: Task) => (await fixture.operationOf(task)).state
  /** Assigns a credit to the first lane; the endpoint keeps it from the chain. Returns the rest of the service without that key. */
  async function replaced(task: Task) {
    const raws: Hex[] = []
    fixture.endpoint.intercept = (method, _, [raw]) => {
      if (method !== 'eth_sendRawTransaction') return undefined
      raws.push(raw as Hex)
      return Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, result: refOf('yes') }))
    }
    const context = await fixture.begin()
    const [old, other] = context.keys
    await fixture.command(task)
    await rounds({ ...context, keys: [old!] }, async () => (await stateOf(task)) === 'assigned', 'a nonce')
    const next = listening(await fixture.begin())
    return { raw: raws[0]!, old: old!, next: { ...next, keys: [other!] } }
  }

  test('still ends what it had sent, by whichever instance', async () => {
    const task = credit()
    const { raw, old, next } = await replaced(task)
    const hash = await fixture.chain.sendRawTransaction({ serializedTransaction: raw })
    fixture.endpoint.intercept = undefined
    await rounds(next, async () => (await stateOf(task)) === 'settled', 'the end of the credit')
    expect(await fixture.operationOf(task)).toMatchObject({ lane: old.address.toLowerCase(), txHash: hash })
    expect(next.raised).toEqual([])
  })

  test('still sends what it had signed, and assigns nothing new', async () => {
    const [task, later] = [credit(), credit()]
    const { old, next } = await replaced(task)
    fixture.endpoint.intercept = undefined
    await fixture.command(later)
    await rounds(next, async () => (await stateOf(task)) === 'settled', 'the end of the credit')
    await rounds(next, async () => (await stateOf(later)) === 'settled', 'the end of the later one')
    expect((await fixture.operationOf(later)).lane).not.toBe(old.address.toLowerCase())
  })

  test('is left to an instance that has its key, once what it had sent has ended', async () => {
    const task = credit()
    const { old, next } = await replaced(task)
    fixture.endpoint.intercept = undefined
    await rounds(next, async () => (await stateOf(task)) === 'settled', 'the end of the credit')
    const rival = { ...next, ...newProcess(next.log, next.clock), keys: [old] }
    const isLeft = async () => {
      await relayOnce(next)
      return (await holdLanes(rival)).length === 1
    }
    await until(isLeft, 'the lease of the lane', 20_000)
  })

  test('is reported while its transaction cannot be mined or replaced, until its nonce is used', async () => {
    const task = credit()
    const { old, next } = await replaced(task)
    await rounds(next, async () => next.raised.length > 0, 'the alert')
    const { nonce } = await fixture.operationOf(task)
    expect(next.raised[0]).toMatchObject({ msg: 'lane is blocked', lane: old.address.toLowerCase(), nonce })
    const account = privateKeyToAccount(actorKeys.relayer)
    const hash = await fixture.chain.sendTransaction({ account, to: account.address, nonce: nonce!, chain: null })
    await fixture.chain.waitForTransactionReceipt({ hash, pollingInterval: 50 })
    fixture.endpoint.intercept = undefined
    const late = { ...next, clock: () => next.clock() + 61_000 }
    await rounds(late, async () => (await stateOf(task)) === 'settled', 'the credit by another lane')
    expect((await fixture.operationOf(task)).lane).not.toBe(old.address.toLowerCase())
  })
})

describe('a credit or repayment of a wallet whose freeze was ordered', () => {
  const newAddress = () => privateKeyToAccount(generatePrivateKey()).address
  /** The endpoint accepts every transaction and drops it, so that none becomes final. */
  const dropAll = () => {
    fixture.endpoint.intercept = (method) =>
      method === 'eth_sendRawTransaction'
        ? Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, result: refOf('yes') }))
        : undefined
  }

  // guard: nothing is given to a wallet while a freeze of it is not final
  test.each(['credit', 'repay'] as const)(
    'security: a %s waits until the freeze is final, also in another lane',
    async (kind) => {
      const context = await fixture.begin({ batchMax: 1 })
      const wallet = newAddress()
      const given = { refId: newRefId(), wallet, ausd: '1000000', held: false }
      const paidAt = String(Math.floor(Date.now() / 1_000))
      const order: Task = kind === 'credit' ? { kind, payload: given } : { kind, payload: { ...given, paidAt } }
      await fixture.command(order)
      const frozen = freeze(wallet, true, 1n)
      await fixture.command(frozen)
      dropAll()
      for (let rounds = 0; rounds < 3; rounds++) await relayOnce(context)
      expect((await fixture.operationOf(frozen)).state).toBe('assigned')
      expect((await fixture.operationOf(order)).state).toBe('waiting')
      fixture.endpoint.intercept = undefined
      const [done, stopped] = [await fixture.finish(context, order), await fixture.operationOf(frozen)]
      expect([done.state, stopped.state]).toEqual(['settled', 'settled'])
      expect(done.blockNumber!).toBeGreaterThan(stopped.blockNumber!)
    },
  )

  test('does not wait for an order that ends a freeze, nor for a freeze of another wallet', async () => {
    const context = await fixture.begin({ batchMax: 1 })
    const [wallet, other] = [newAddress(), newAddress()]
    const task: Task = { kind: 'credit', payload: { refId: newRefId(), wallet, ausd: '1000000', held: false } }
    for (const one of [task, freeze(wallet, false, 1n), freeze(other, true, 1n)]) await fixture.command(one)
    dropAll()
    await relayOnce(context)
    expect((await fixture.operationOf(task)).state).toBe('assigned')
    fixture.endpoint.intercept = undefined
    expect((await fixture.finish(context, task)).state).toBe('settled')
  })
})

describe('lane rows restored from a backup', () => {
  /** Sets a lane's row back by a number of nonces, as a restored backup does. */
  const putBack = (address: string, nonces: number) =>
    fixture.database.run((db) =>
      db
        .update(lanes)
        .set({ nextNonce: sql`${lanes.nextNonce} - ${nonces}` })
        .where(eq(lanes.address, address.toLowerCase() as `0x${string}`)),
    )
  const [first, second] = fixture.keys.map(({ address }) => address.toLowerCase())
  const sound = async (context: Context) =>
    (await holdLanes(context)).filter((one) => one.sound).map(({ lane }) => String(lane.address))

  // guard: while one lane is behind the chain, no lane gives out a nonce
  test('stop every lane, not only the one that has sent since: a second drip has no guard', async () => {
    const context = await fixture.begin()
    const [task] = await order(1)
    await fixture.finish(context, task!)
    await putBack(first!, 1)
    try {
      const restarted = await fixture.begin()
      await holdLanes(restarted)
      expect(await sound(restarted)).toEqual([])
      const [waiting] = await order(1)
      await relayOnce(restarted)
      expect((await fixture.operationOf(waiting!)).state).toBe('waiting')
      const alone = { ...restarted, keys: restarted.keys.slice(1) }
      expect(await sound(alone)).toEqual([second!])
    } finally {
      await putBack(first!, -1)
    }
    expect(await sound(await fixture.begin())).toEqual([first!, second!])
  })

  test('are noticed by a process that runs during the restore', async () => {
    const context = await fixture.begin()
    expect(await sound(context)).toEqual([first!, second!])
    const [task] = await order(1)
    await fixture.finish(context, task!)
    await holdLanes(context)
    await putBack(first!, 1)
    try {
      await holdLanes(context)
      expect(await sound(context)).toEqual([])
    } finally {
      await putBack(first!, -1)
    }
  })
})

describe('two relayer processes', () => {
  test('never hold the same lane, and the second takes over the lanes that the first releases', async () => {
    const first = await fixture.begin()
    expect(await holdLanes(first)).toHaveLength(2)
    const second = { ...first, holder: crypto.randomUUID() }
    expect(await holdLanes(second)).toEqual([])
    await releaseLanes(fixture.database, first.holder)
    const taken = await holdLanes(second)
    expect(taken.map(({ sound }) => sound)).toEqual([true, true])
    expect(await holdLanes(first)).toEqual([])
  })

  // guard: a fault is recorded only by the holder of its lane
  test('do not record a fault that a stalled process finds on a lane that the other holds by now', async () => {
    const first = { ...(await fixture.begin()), ...newProcess(fixture.context.log, Date.now) }
    const { lane: before } = (await holdLanes(first))[0]!
    await releaseLanes(fixture.database, first.holder)
    const second = { ...first, ...newProcess(first.log, first.clock) }
    const own = (await holdLanes(second)).find(({ lane }) => lane.address === before.address)!
    const note = (lane: Lane, holder: string) => recordFault(fixture.database, lane, holder, 'chain_ahead')
    expect(await note(before, first.holder)).toBe(false)
    expect(await note({ ...own.lane, nextNonce: own.lane.nextNonce - 1 }, second.holder)).toBe(false)
    // A recorded fault is checked again, although the lane was sound under this lease.
    expect(await note(own.lane, second.holder)).toBe(true)
    const after = (await holdLanes(second)).find(({ lane }) => lane.address === before.address)!
    expect(after.sound).toBe(true)
    const [row] = await fixture.database.read((db) => db.select().from(lanes).where(eq(lanes.address, before.address)))
    expect(row!.fault).toBeNull()
    await releaseLanes(fixture.database, second.holder)
  })

  test('that run concurrently credit each order once', async () => {
    const first = await fixture.begin({ batchMax: 3 })
    const second = { ...first, holder: crypto.randomUUID() }
    const before = await fixture.balanceOf(fixture.treasury.address)
    const tasks = await order(8)
    await until(async () => {
      await Promise.all([relayOnce(first), relayOnce(second)])
      const states = await Promise.all(tasks.map((task) => fixture.operationOf(task)))
      return states.every(({ state }) => state === 'settled')
    }, 'all credits')
    expect(before - (await fixture.balanceOf(fixture.treasury.address))).toBe(8_000_000n)
  })
})

describe('two instances of chain-relayer', () => {
  const pair = async () => {
    const counted = { copies: 2, looks: 0 }
    const copies = { count: () => counted.copies, poke: () => void counted.looks++ }
    const first: Context = { ...(await fixture.begin()), copies }
    return { counted, first, second: { ...first, ...newProcess(first.log, first.clock) } }
  }
  const heldBy = async (context: Context) => (await holdLanes(context)).map(({ lane }) => String(lane.address))

  test('hold half of the lanes each', async () => {
    const { first, second } = await pair()
    expect(await heldBy(first)).toHaveLength(1)
    expect(await heldBy(second)).toHaveLength(1)
    expect(new Set([...(await heldBy(first)), ...(await heldBy(second))]).size).toBe(2)
  })

  test('divide the lanes of the first as soon as it counts the second', async () => {
    const { counted, first, second } = await pair()
    counted.copies = 1
    expect(await heldBy(first)).toHaveLength(2)
    expect(await heldBy(second)).toEqual([])
    counted.copies = 2
    expect(await heldBy(first)).toHaveLength(1)
    expect(await heldBy(second)).toHaveLength(1)
  })

  test('sign for each other: an order above the daily limit of one lane is soon signed by the other', async () => {
    const { first, second } = await pair()
    const [spent] = await heldBy(first)
    const [other] = await heldBy(second)
    await spendDay(spent!)
    try {
      const [task] = await order(1)
      await relayOnce({ ...first, ...dayLimit })
      expect(await fixture.operationOf(task!)).toMatchObject({ state: 'waiting', reason: 'policy_refused' })
      const { state, lane } = await fixture.finish({ ...second, ...dayLimit }, task!)
      expect({ state, lane }).toEqual({ state: 'settled', lane: other as Hex })
    } finally {
      await forgetSpent()
    }
  })

  test('send for each other: an order that the credit line refuses from the lane of one is soon sent by the other', async () => {
    const { first, second } = await pair()
    const [without] = await heldBy(first)
    const [other] = await heldBy(second)
    await setRoles('revokeRole', without as Hex)
    try {
      const [task] = await order(1)
      await relayOnce(first)
      expect(await fixture.operationOf(task!)).toMatchObject({ state: 'waiting', tries: 0 })
      const { state, lane } = await fixture.finish(second, task!)
      expect({ state, lane }).toEqual({ state: 'settled', lane: other as Hex })
    } finally {
      await setRoles('grantRole', without as Hex)
    }
  })

  test('hand over at once when one shuts down cleanly', async () => {
    const { counted, first, second } = await pair()
    expect(await heldBy(first)).toHaveLength(1)
    expect(await heldBy(second)).toHaveLength(1)
    await releaseLanes(fixture.database, second.holder)
    counted.looks = 0
    expect(await heldBy(first)).toHaveLength(1)
    expect(counted.looks).toBeGreaterThan(0) // The instances are counted because a lane is free.
    counted.copies = 1
    expect(await heldBy(first)).toHaveLength(2)
  })

  test('leave no lane to a live instance that does not take it', async () => {
    const { first } = await pair()
    const holds = await heldBy(first)
    const later = (ms: number): Context => ({ ...first, clock: () => first.clock() + ms })
    expect(await heldBy(later(4_000))).toHaveLength(2)
    expect(await heldBy(later(5_000))).toHaveLength(2)
    expect(await heldBy(later(66_000))).toEqual(holds)
  })
})

describe('while one of two endpoints lags behind a transaction of a lane', () => {
  const behind = () => {
    fixture.endpoint.intercept = (method, _, [, block]) =>
      method === 'eth_getTransactionCount' && block === 'latest'
        ? Promise.resolve(Response.json({ jsonrpc: '2.0', id: 1, result: '0x0' }))
        : undefined
  }
  const onBoth = async (): Promise<Context> => {
    const rpcUrls = [fixture.endpoint.url, fixture.rpcUrl]
    const node = openNode({ endpoints: openRpcEndpoints({ rpcUrls }), chainId: 10143 })
    return { ...(await fixture.begin()), ...newProcess(fixture.context.log, Date.now), node }
  }

  test('the lane is opened at the nonce that the other endpoint knows', async () => {
    const task = (await order(1))[0]!
    const { lane } = await fixture.finish(await fixture.begin(), task)
    const rows = await fixture.database.read((db) => db.select().from(lanes).where(eq(lanes.address, lane!)))
    await fixture.database.run((db) => db.delete(lanes).where(eq(lanes.address, lane!)))
    behind()
    const context = await onBoth()
    const opened = (await holdLanes(context)).find((one) => one.lane.address === lane)!
    expect(rows[0]!.nextNonce).toBeGreaterThan(0)
    expect(opened.lane.nextNonce).toBe(rows[0]!.nextNonce)
    expect(opened.sound).toBe(true)
  })

  test('a lane under a new lease is not blocked', async () => {
    behind()
    const held = await holdLanes(await onBoth())
    expect(held.map(({ sound }) => sound)).toEqual([true, true])
  })
})

describe('while the only endpoint that responds has old blocks', () => {
  /** Plays a node that stopped a minute ago, before the lanes sent anything. The other endpoint does not respond. */
  const onOld = async () => {
    const answer = (result: unknown) => Response.json({ jsonrpc: '2.0', id: 1, result })
    fixture.endpoint.intercept = (method, forward, [, block]) => {
      if (method === 'eth_getTransactionCount' && block === 'latest') return Promise.resolve(answer('0x0'))
      if (method !== 'eth_getBlockByNumber') return undefined
      return forward().then(async (response) => {
        const { result } = (await response.json()) as { result: { timestamp: `0x${string}` } }
        return answer({ ...result, timestamp: numberToHex(BigInt(result.timestamp) - 60n) })
      })
    }
    const rpcUrls = ['http://127.0.0.1:1', fixture.endpoint.url]
    const node = openNode({ endpoints: openRpcEndpoints({ rpcUrls }), chainId: 10143 })
    return { ...listening(await fixture.begin()), node }
  }
  const rowsOf = (address: string) =>
    fixture.database.read((db) =>
      db
        .select()
        .from(lanes)
        .where(eq(lanes.address, address as `0x${string}`)),
    )

  test('a lane is not opened, with an alert, and is opened at the right nonce later', async () => {
    const task = (await order(1))[0]!
    const lane = (await fixture.finish(await fixture.begin(), task)).lane!
    const [{ nextNonce }] = (await rowsOf(lane)) as [Lane]
    await fixture.database.run((db) => db.delete(lanes).where(eq(lanes.address, lane)))
    const old = await onOld()
    const held = await holdLanes(old)
    expect(held.map((one) => one.lane.address)).not.toContain(lane)
    expect(await rowsOf(lane)).toEqual([])
    const msg = 'newest block is old, lanes wait: check RPC_URLS and the clock'
    expect(old.raised).toMatchObject([{ msg, blockNumber: expect.stringMatching(/^\d+$/) }])
    expect(old.raised[0]!.oldMs).toBeGreaterThan(30_000)
    fixture.endpoint.intercept = undefined
    const later = listening(await fixture.begin())
    await holdLanes(later)
    expect(later.raised).toEqual([])
    expect(await rowsOf(lane)).toMatchObject([{ nextNonce }])
  })

  // guard: a lane is not opened or leased by an old block
  test('a lane of a restored backup, whose nonces the chain has used, gives out none', async () => {
    const task = (await order(1))[0]!
    const lane = (await fixture.finish(await fixture.begin(), task)).lane!
    const [{ nextNonce }] = (await rowsOf(lane)) as [Lane]
    const setNext = (to: number) =>
      fixture.database.run((db) => db.update(lanes).set({ nextNonce: to }).where(eq(lanes.address, lane)))
    await setNext(0)
    const held = await holdLanes(await onOld())
    await setNext(nextNonce)
    const restored = held.find((one) => one.lane.address === lane)!
    expect(restored.lane.nextNonce).toBe(0)
    expect(restored.sound).toBe(false)
  })
})

describe('the fault of a lane', () => {
  test.each([
    ['that is new on both sides', 0, 0, [], null],
    ['with everything mined', 7, 7, [], null],
    ['with two in flight', 7, 5, [5, 6], null],
    ['with one mined but not final', 7, 6, [5, 6], null],
    // guard: a lane whose nonce on the chain is ahead of its rows gives out no nonce
    ['whose key sent something we never stored', 7, 8, [], 'chain_ahead'],
    ['with a restored backup', 5, 7, [3, 4], 'chain_ahead'],
    ['on a chain that was reset', 7, 0, [], 'nonce_missing'],
    ['with a gap before those in flight', 7, 5, [6], 'nonce_missing'],
  ] as const)('%s: next %d, chain %d, open %p -> %p', (_case, next, chain, open, fault) => {
    const openNonces = new Set<number>(open)
    expect(laneFault({ nextNonce: next, chainCount: chain, openNonces })).toBe(fault)
  })
})
