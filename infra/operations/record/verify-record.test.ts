import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { repositoryDir } from '#infra/local/folders'
import { recordFromChain } from '#infra/operations/record/chain-record'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { actionsOn } from '#test/support/contract-actions'
import { actors, type ContractsFixture, openContractsFixture } from '#test/support/contracts'
import { openLogFilter, sequenceIn } from '#test/support/engines/rpc-filter'
import { openRpcProxy } from '#test/support/rpc-proxy'

let fixture: ContractsFixture
const wallet = actors.ana.address
const ausd = 1_000_000n

beforeAll(async () => {
  fixture = await openContractsFixture({}, ['--slots-in-an-epoch', '1'])
  const { act, now, until } = actionsOn(fixture)
  const later = async (seconds: bigint) => until((await now()) + seconds)
  await act('topUp', 1, 100n * ausd)
  await act('draw', 20n * ausd)
  await later(61n)
  await act('repayFor', 2, 20n * ausd)
  await act('draw', 5n * ausd)
  await act('revokeRepayment', 2, 12n * ausd)
  await act('topUp', 3, 100n * ausd, false, 'budi')
  await act('addYield', 7n)
  await act('pause')
  await later(30n)
  await act('unpause')
  await act('repay', 1n * ausd)
  await act('setAutoRepay', 2n * ausd)
  await later(1_800n)
  await act('autoRepay')
  await fixture.client.mine({ blocks: 250 })
})
afterAll(() => fixture.close())

/** Runs the command without any configuration or local stack. */
async function verifyRecord(...words: string[]) {
  const script = join(repositoryDir, 'infra/operations/record/verify-record.ts')
  const child = Bun.spawn([process.execPath, script, ...words], {
    env: { PATH: process.env.PATH ?? '', LOCAL_DIR: '/nowhere' },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [said, complaint] = await Promise.all([child.stdout, child.stderr].map((stream) => new Response(stream).text()))
  return { code: await child.exited, said: said!.trim(), complaint: complaint!.trim() }
}

const place = () => ({
  rpcUrls: [nodeUrl()],
  creditLine: fixture.deployment.creditLine,
  deployBlock: 0n,
  logsRangeMax: 1_000n,
})
const nodeUrl = () => fixture.client.transport.url as string
const against = (rpcUrl: string, ...words: string[]) =>
  verifyRecord(wallet, '--rpc', rpcUrl, '--credit-line', fixture.deployment.creditLine, ...words)

describe('verify-record', () => {
  test('verify-record finds the deployment, halves refused ranges, and finds a complete record equal', async () => {
    await using proxy = openRpcProxy({ target: nodeUrl(), faults: { logsRangeMax: 40 } })
    const { code, said, complaint } = await against(proxy.url)
    expect({ code, complaint, last: said.split('\n').at(-1) }).toEqual({
      code: 0,
      complaint: '',
      last: 'the record is complete and equal',
    })
    const { record } = await recordFromChain(place(), wallet)
    expect(JSON.parse(said.slice(0, said.indexOf('\n}') + 2))).toEqual(record)
    // anvil has no state of block 0, so the search may end there instead of at block 1.
    expect(said).toMatch(/read from block [01]:/)
  })

  test.each([
    ['of the wallet', 'CycleClosed'],
    ['of another wallet', 'CollateralAdded'],
    ['of no wallet', 'YieldAdded'],
  ])('verify-record names the place of an event %s that the endpoint omits', async (_whose, name) => {
    const event = (await numbered()).findLast(({ eventName }) => eventName === name)!
    const missing = Number(event.args.sequence)
    await using filter = openLogFilter(nodeUrl())
    filter.omits = (log) => sequenceIn(log) === missing
    const { code, said } = await against(filter.url)
    expect(code).toBe(1)
    const line = `an event is missing between sequence ${missing - 1} and ${missing + 1}`
    expect(said).toContain(line)
  })

  test('verify-record names the events that the endpoint omits at the end', async () => {
    const total = (await numbered()).length
    await using filter = openLogFilter(nodeUrl())
    filter.omits = (log) => sequenceIn(log) > total - 2
    const { code, said } = await against(filter.url, '--from-block', '0')
    expect(code).toBe(1)
    expect(said).toContain(`2 events are missing after sequence ${total - 2}`)
    expect(said).toContain('this endpoint has not returned all of them')
  })

  test('verify-record compares the record that a gateway serves', async () => {
    const truth = { ...(await recordFromChain(place(), wallet)).record, indexer: 'ok' }
    let served: object = truth
    await using gateway = Bun.serve({ port: 0, fetch: () => Response.json(served) })
    const compare = ['--compare', gateway.url.href]
    expect(await against(nodeUrl(), ...compare)).toMatchObject({ code: 0 })
    served = { ...truth, history: { ...truth.history, score: '11' } }
    const { code, said } = await against(nodeUrl(), ...compare)
    expect(code).toBe(1)
    expect(said).toContain(`history.score: the chain has "${truth.score}", /verify "11"`)
  })

  test.each([
    ['no wallet', []],
    ['no endpoint', [wallet]],
    ['no contract', [wallet, '--rpc', 'http://127.0.0.1:1']],
    ['an unknown option', [wallet, '--url', 'http://127.0.0.1:1']],
    ['a wallet that is no address', [wallet.slice(0, 41), '--rpc', 'http://127.0.0.1:1']],
    ['an endpoint without a protocol', [wallet, '--rpc', '127.0.0.1:8545']],
    ['a second wallet', [wallet, wallet, '--rpc', 'http://127.0.0.1:1']],
  ])('verify-record explains its use when there is %s', async (_what, words) => {
    const { code, complaint } = await verifyRecord(...words)
    expect(code).toBe(2)
    expect(complaint).toContain('bun run verify-record <wallet> --rpc <url>')
  })
})

test.each([
  ['an endpoint that does not respond', 'http://127.0.0.1:1', [], 'the record could not be checked'],
  ['no contract', '', ['--credit-line', wallet], `there is no contract at ${wallet}`],
  ['no gateway', '', ['--compare', 'http://127.0.0.1:1'], 'the record could not be checked'],
])('verify-record calls no record wrong if there is %s', async (_what, url, words, complaint) => {
  const { code, said } = await against(url || nodeUrl(), ...words)
  expect({ code, said }).toEqual({ code: 3, said: expect.stringContaining(complaint) })
})

async function numbered() {
  const { creditLine } = fixture.deployment
  const logs = await fixture.client.getContractEvents({
    abi: creditLineAbi,
    address: creditLine,
    fromBlock: 0n,
    strict: true,
  })
  return logs.flatMap(({ eventName, args }) =>
    'sequence' in args ? { eventName, args: { sequence: args.sequence } } : [],
  )
}
