import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Address } from 'viem'
import type { Place } from '#infra/operations/place'
import { readAtAny } from '#infra/operations/record/chain-log'
import { actors, openContractsFixture, refOf } from '#test/support/contracts'
import { readLane } from './lane'

let chain: Awaited<ReturnType<typeof openContractsFixture>>
let server: ReturnType<typeof Bun.serve>
let isBare = false

beforeAll(async () => {
  chain = await openContractsFixture()
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const body = await request.text()
      const headers = { 'content-type': 'application/json' }
      const reply = await fetch(chain.client.transport.url!, { method: 'POST', headers, body })
      if (!isBare || !body.includes('eth_getTransactionReceipt')) return reply
      const answer = (await reply.json()) as { result: object }
      return Response.json({ ...answer, result: { ...answer.result, logs: [] } })
    },
  })
})
afterAll(async () => {
  server.stop(true)
  await chain.close()
})

test('a restore takes no credit as done from a receipt without logs', async () => {
  const address = actors.relayer.address.toLowerCase() as Address
  const fromNonce = await chain.client.getTransactionCount({ address })
  const since = await chain.client.getBlockNumber()
  const args = [refOf(1), actors.ana.address, 1_000_000n, false] as const
  await chain.send('relayer', 'creditLine', 'topUp', args as never)
  const head = await chain.client.getBlockNumber()
  const { ausd, creditLine } = chain.deployment
  const place = { ausd, creditLine, treasury: actors.treasury.address } as Place
  const read = () =>
    readAtAny([server.url.href], (node) => readLane(node, place, { address, fromNonce }, { since, head }))
  isBare = true
  await expect(read()).rejects.toThrow('without logs')
  isBare = false
  expect((await read()).map(({ actions }) => actions)).toMatchObject([[{ does: 'credit', done: true }]])
})
