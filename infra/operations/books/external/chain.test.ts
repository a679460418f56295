import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { type Hex, zeroAddress } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { actors, refOf } from '#test/support/contracts'
import { type BooksFixture, openBooksFixture } from '../test-support'
import { readChain } from './chain'
import { moveSigned } from './test-support'

const oneAusd = 1_000_000n
const ana = actors.ana.address
const treasury = actors.treasury.address
let fixture: BooksFixture
beforeAll(async () => {
  fixture = await openBooksFixture()
})
afterAll(() => fixture.close())

type Row = { kind: string; key: string | null; wallet: string; ausd_micro: string; held: boolean }
const rows = (since = 0) =>
  fixture.admin<(Row & { block: string; moved_at: Date })[]>`
    select * from books.chain_moves where block > ${since} order by block, log_index`
const told = async (since: number) =>
  (await rows(since)).map(({ kind, key, wallet, ausd_micro, held }) => ({
    kind,
    key,
    wallet,
    held,
    ausd: BigInt(ausd_micro) / oneAusd,
  }))
const headNow = async () => Number(await fixture.chain.client.getBlockNumber())
const read = async () => {
  await fixture.finalize()
  return readChain(fixture.copy())
}
const relay = (functionName: 'topUp' | 'repayFor', args: readonly unknown[]) =>
  fixture.chain.send('relayer', 'creditLine', functionName, args as never)

describe('movements read from the chain', () => {
  let since = 0
  beforeEach(async () => {
    since = await headNow()
  })

  test('a credit, a held credit and its revocation are read under their ref', async () => {
    await relay('topUp', [refOf(1), ana, 1_000n * oneAusd, false])
    await relay('topUp', [refOf(2), ana, 5n * oneAusd, true])
    await fixture.chain.send('relayer', 'creditLine', 'revokeTopUp', [refOf(2), 0n])
    await read()
    const wallet = ana.toLowerCase()
    expect(await told(since)).toEqual([
      { kind: 'credit', key: refOf(1), wallet, held: false, ausd: 1_000n },
      { kind: 'credit', key: refOf(2), wallet, held: true, ausd: 5n },
      { kind: 'revoke', key: refOf(2), wallet, held: false, ausd: 5n },
    ])
    const [first] = await rows(since)
    const { timestamp } = await fixture.chain.client.getBlock({ blockNumber: BigInt(first!.block) })
    expect(first!.moved_at).toEqual(new Date(Number(timestamp) * 1_000))
  })

  test('a settlement and its excess are read as parts of one ref, and so are their revocations', async () => {
    await fixture.chain.send('ana', 'creditLine', 'draw', [70n * oneAusd, ana])
    await relay('repayFor', [refOf(3), ana, 10n * oneAusd, false, 0n])
    await relay('repayFor', [refOf(4), ana, 72n * oneAusd, true, 0n])
    await fixture.chain.send('ana', 'creditLine', 'draw', [oneAusd, ana])
    await fixture.chain.send('ana', 'creditLine', 'repay', [oneAusd])
    await fixture.chain.send('relayer', 'creditLine', 'revokeRepayment', [refOf(4), 0n])
    await read()
    const parts = (await told(since)).map(({ kind, key, held, ausd }) => [kind, key, held, ausd])
    expect(parts).toEqual([
      ['repay', refOf(3), false, 10n],
      ['repay', refOf(4), true, 60n],
      ['credit', refOf(4), true, 12n],
      ['revoke', refOf(4), false, 60n],
      ['revoke', refOf(4), false, 12n],
    ])
  })

  test('several operations in one transaction are read separately', async () => {
    const op = (kind: number, ref: number, amount: bigint) =>
      ({ kind, ref: refOf(ref), account: ana, amount: amount * oneAusd, paidAt: 0n }) as const
    const ops = [op(0, 10, 3n), op(1, 11, 4n), op(3, 11, 0n), op(3, 99, 0n), op(0, 12, 5n)]
    await fixture.chain.send('relayer', 'creditLine', 'many', [ops])
    await read()
    expect((await told(since)).map(({ kind, key, ausd }) => [kind, key, ausd])).toEqual([
      ['credit', refOf(10), 3n],
      ['credit', refOf(11), 4n],
      ['revoke', refOf(11), 4n],
      ['credit', refOf(12), 5n],
    ])
  })

  test('signed treasury transfers have their authorization as key, plain ones have none', async () => {
    const nonce = `0x${'Ab'.repeat(32)}` as Hex
    await moveSigned(fixture, 'ana', treasury, { micro: 7n * oneAusd, nonce })
    await moveSigned(fixture, 'treasury', ana, { micro: 2n * oneAusd, nonce })
    await fixture.chain.send('budi', 'ausd', 'transfer', [treasury, oneAusd])
    await fixture.chain.send('treasury', 'ausd', 'transfer', [ana, 3n * oneAusd])
    await fixture.chain.send('budi', 'ausd', 'transfer', [treasury, 0n])
    await fixture.chain.send('treasury', 'ausd', 'transfer', [treasury, oneAusd])
    await read()
    const wallet = ana.toLowerCase()
    const budi = actors.budi.address.toLowerCase()
    const keyOf = (from: string, micro: bigint) => `${from}:${nonce}:${micro}`.toLowerCase()
    expect(await told(since)).toEqual([
      { kind: 'in', key: keyOf(ana, 7n * oneAusd), wallet, held: false, ausd: 7n },
      { kind: 'out', key: keyOf(treasury, 2n * oneAusd), wallet, held: false, ausd: 2n },
      { kind: 'in', key: null, wallet: budi, held: false, ausd: 1n },
      { kind: 'out', key: null, wallet, held: false, ausd: 3n },
    ])
  })

  test('a credit-line transfer without a ref is attributed to the credit line', async () => {
    const line = fixture.place.creditLine.toLowerCase()
    await fixture.chain.send('treasury', 'creditLine', 'fundLiquidity', [9n * oneAusd])
    await fixture.chain.send('admin', 'creditLine', 'withdrawLiquidity', [8n * oneAusd, treasury])
    await relay('topUp', [refOf(20), ana, oneAusd, false])
    await read()
    const parts = (await told(since)).map(({ kind, wallet, ausd }) => [kind, wallet, ausd])
    expect(parts).toEqual([
      ['out', line, 9n],
      ['in', line, 8n],
      ['credit', ana.toLowerCase(), 1n],
    ])
  })

  test('AUSD minted for the treasury is a mint, and a transfer of 0 is ignored', async () => {
    await fixture.chain.send('admin', 'ausd', 'mint', [treasury, 6n * oneAusd])
    await read()
    expect(await told(since)).toEqual([{ kind: 'mint', key: null, wallet: zeroAddress, held: false, ausd: 6n }])
  })

  test('movements sum to the treasury balance at the block that was read', async () => {
    const block = await read()
    const [sum] = await fixture.admin<{ micro: string }[]>`
      select sum(case when kind in ('in', 'mint', 'revoke') then ausd_micro else -ausd_micro end) as micro
      from books.chain_moves`
    const { client, deployment } = fixture.chain
    const held = await client.readContract({
      abi: ausdAbi,
      address: deployment.ausd,
      functionName: 'balanceOf',
      args: [treasury],
      blockNumber: block,
    } as never)
    expect(BigInt(sum!.micro)).toBe(held as unknown as bigint)
  })
})

describe('reading the chain', () => {
  test('a reading stops at the finalized block, and the next one continues there', async () => {
    await read()
    const before = await headNow()
    await relay('topUp', [refOf(30), ana, oneAusd, false])
    await readChain(fixture.copy())
    expect(await rows(before)).toHaveLength(0)
    const block = await read()
    expect(await rows(before)).toHaveLength(1)
    expect(await readChain(fixture.copy())).toBe(block)
  })

  test('two concurrent instances and failing ranges leave no gap', async () => {
    const whole = await rows()
    await fixture.admin`truncate books.chain_moves, books.checkpoints`
    await fixture.chain.client.mine({ blocks: 300 })
    const small = { ...fixture.place, logsRangeMax: 1n }
    const failing = openFailing(fixture.place.rpcUrls[0]!)
    const broken = fixture.copy({ place: { ...small, rpcUrls: [failing.url] } })
    failing.after = 200
    await expect(readChain(broken)).rejects.toThrow()
    const [kept] = await fixture.admin`select block from books.checkpoints where source = 'chain'`
    expect(Number(kept!.block)).toBeGreaterThan(10)
    expect(Number(kept!.block)).toBeLessThan(await headNow())
    failing.after = Number.POSITIVE_INFINITY
    await Promise.all([1, 2, 3].map(() => readChain(fixture.copy({ place: small }))))
    expect(await rows()).toEqual(whole)
    failing.close()
  })

  test('a signed transfer is not read as a plain one from a receipt without logs', async () => {
    const since = await headNow()
    const nonce = `0x${'cd'.repeat(32)}` as Hex
    await moveSigned(fixture, 'ana', treasury, { micro: oneAusd, nonce })
    await fixture.finalize()
    const failing = openFailing(fixture.place.rpcUrls[0]!)
    Object.assign(failing, { after: Number.POSITIVE_INFINITY, isBare: true })
    const place = { ...fixture.place, rpcUrls: [failing.url] }
    await expect(readChain(fixture.copy({ place }))).rejects.toThrow('without logs')
    failing.close()
    await read()
    expect(await told(since)).toMatchObject([{ kind: 'in', key: expect.stringContaining(nonce) }])
  })

  test('a reading of a chain that was rolled back ends with an explanation', async () => {
    await fixture.chain.checkpoint()
    const before = await rows()
    const block = await read()
    await relay('topUp', [refOf(40), ana, oneAusd, false])
    await read()
    await fixture.chain.rewind()
    await expect(readChain(fixture.copy())).rejects.toThrow('it was reset')
    const [stays] = await fixture.admin`select block from books.checkpoints`
    expect(Number(stays!.block)).toBeGreaterThan(Number(block))
    await fixture.chain.client.mine({ blocks: 50 })
    await expect(readChain(fixture.copy())).rejects.toThrow('is not there any more')
    expect(await rows()).toHaveLength(before.length + 1)
  })
})

/** Opens an endpoint that fails after a given number of calls, or omits the logs of receipts. */
function openFailing(target: string) {
  const endpoint = { after: 0, isBare: false, url: '', close: () => {} }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      if (endpoint.after-- <= 0) return new Response('away', { status: 503 })
      const headers = { 'content-type': 'application/json' }
      const body = await request.text()
      const reply = await fetch(target, { method: 'POST', headers, body })
      if (!endpoint.isBare || !body.includes('eth_getTransactionReceipt')) return reply
      const answer = (await reply.json()) as { result: object }
      return Response.json({ ...answer, result: { ...answer.result, logs: [] } })
    },
  })
  endpoint.url = `http://127.0.0.1:${server.port}`
  endpoint.close = () => void server.stop(true)
  return endpoint
}
