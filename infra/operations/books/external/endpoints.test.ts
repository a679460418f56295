import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { type WrongAnswer, wrongAnswers } from '#infra/sandbox/rpc-proxy/faults'
import { openRpcProxy, type RpcProxy } from '#infra/sandbox/rpc-proxy/proxy'
import { actors, refOf } from '#test/support/contracts'
import type { BooksContext } from '../context'
import { type BooksFixture, openBooksFixture } from '../test-support'
import { readChain } from './chain'
import { readChainBalances } from './chain-balances'

const oneAusd = 1_000_000n
const wallet = actors.ana.address
let fixture: BooksFixture
let proxies: [RpcProxy, RpcProxy]
let context: BooksContext
beforeAll(async () => {
  fixture = await openBooksFixture()
  const target = fixture.place.rpcUrls[0]!
  proxies = [openRpcProxy({ target }), openRpcProxy({ target })]
  context = fixture.copy({ place: { ...fixture.place, rpcUrls: proxies.map(({ url }) => url) } })
  const { address } = actors.relayer
  await fixture.admin`insert into chain_relayer.lane (address, next_nonce) values (${address.toLowerCase()}, 0)`
})
afterAll(async () => {
  for (const proxy of proxies) await proxy[Symbol.asyncDispose]()
  await fixture.close()
})

const read = async () => {
  const block = await readChain(context)
  const lanes = await readChainBalances(context, block)
  return { block, lanes }
}

let refs = 0
/** Moves AUSD to and from the treasury in new blocks, and makes them final. */
async function live() {
  await fixture.chain.send('relayer', 'creditLine', 'topUp', [refOf(++refs), wallet, oneAusd, false])
  await fixture.chain.send('treasury', 'ausd', 'transfer', [wallet, 2n * oneAusd])
  await fixture.finalize()
}

const stored = () => fixture.admin`
  select (select count(*)::int from books.chain_moves) as moves,
    (select block from books.checkpoints where source = 'chain') as block,
    (select amount from books.balances where place = 'treasury') as treasury,
    (select amount from books.balances where place = 'credit_line_owes') as owes`

describe('the books with a good second endpoint', () => {
  beforeEach(async () => {
    for (const proxy of proxies) proxy.setFaults({})
    await live()
    await read()
  })

  /** Reads new movements, and expects what a good endpoint alone gives. */
  async function expectWhole() {
    const [before] = await stored()
    await live()
    const { block, lanes } = await read()
    const [{ moves, ...after } = {}] = await stored()
    expect(moves).toBe(before!.moves + 2)
    const { client } = fixture.chain
    const treasury = BigInt(before!.treasury) - 3n * oneAusd
    const owes = BigInt(before!.owes) + oneAusd
    expect(after).toEqual({ block: String(block), treasury: String(treasury), owes: String(owes) })
    const finalized = await client.getBlock({ blockTag: 'finalized' })
    expect(block).toBe(finalized.number)
    const nonce = await client.getTransactionCount({ address: lanes[0]!.lane, blockNumber: block })
    expect(lanes).toMatchObject([{ block, nonce }])
  }

  const methods = [
    'eth_getBlockByNumber',
    'eth_getLogs',
    'eth_getTransactionReceipt',
    'eth_call',
    'eth_getBalance',
    'eth_getTransactionCount',
  ]
  const answers = (Object.keys(wrongAnswers) as WrongAnswer[]).filter((one) => one !== 'silence')

  test.each(methods)('read everything whatever the first one answers to %s', async (wrongMethod) => {
    for (const wrongAnswer of answers) {
      proxies[0].setFaults({ wrongMethod, wrongAnswer })
      await expectWhole().catch((error) => {
        throw new Error(`${wrongMethod} answered with ${wrongAnswer}: ${error.message}`)
      })
    }
  })

  test.each([
    ['hangs', { wrongMethod: 'eth_getBlockByNumber', wrongAnswer: 'silence' as const }],
    ['lags', { headLagBlocks: 5 }],
    ['stands still', { headStandsStill: true }],
    ['has no finalized block', { finalizedIsNull: true }],
    ['leaves out the newest logs', { logsClampBlocks: 50 }],
    ['leaves out some logs', { partialLogsRate: 1 }],
    ['serves another chain', { otherGenesis: true }],
  ])('read everything if the first one %s', async (_, faults) => {
    proxies[0].setFaults(faults)
    await expectWhole()
  })
})
