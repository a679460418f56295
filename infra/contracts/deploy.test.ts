import { afterAll, describe, expect, test } from 'bun:test'
import { hashDomain, parseAbi } from 'viem'
import { deployContracts } from '#infra/contracts/deploy'
import { openRpcProxy } from '#infra/sandbox/rpc-proxy/proxy'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { multicall3 } from '#shared/chain/client'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { actorKeys, actors, fixtureTerms, openContractsFixture } from '#test/support/contracts'
import { startAnvil } from '#test/support/engines/anvil'

const multicall3Abi = parseAbi([
  'function getBlockNumber() view returns (uint256)',
  'function getCurrentBlockTimestamp() view returns (uint256)',
  'function getEthBalance(address account) view returns (uint256)',
])

const fixture = await openContractsFixture()
afterAll(fixture.close)
const { client, deployment } = fixture
const { ausd, creditLine, treasury } = deployment

describe('a deployment', () => {
  test('a deployment has the same addresses on every fresh chain, whatever its block time', async () => {
    await using slow = await startAnvil(['--block-time', '30'])
    const again = await deployContracts({
      ...fixtureTerms,
      rpcUrl: slow.rpcUrl,
      adminKey: actorKeys.admin,
      treasuryKey: actorKeys.treasury,
      relayers: [],
      verifiers: [],
    })
    expect(again).toMatchObject({ ausd, creditLine, treasury })
  })

  test('a deployment returns the hash of the genesis block and the block of its contracts', async () => {
    const genesis = await client.getBlock({ blockNumber: 0n })
    expect(deployment.genesisHash).toBe(genesis.hash)
    expect(await client.getCode({ address: creditLine, blockNumber: deployment.deployBlock })).not.toBe(undefined)
  })

  test('a deployment funds the treasury and the lending pool', async () => {
    expect(await fixture.balanceOf(treasury)).toBe(1_000_000_000_000n)
    expect(await fixture.balanceOf(creditLine)).toBe(100_000_000_000n)
    const view = { abi: creditLineAbi, address: creditLine } as const
    expect(await client.readContract({ ...view, functionName: 'liquidity' })).toBe(100_000_000_000n)
    expect(await client.readContract({ ...view, functionName: 'totalCollateral' })).toBe(0n)
  })

  test('the deployed token has the EIP-712 domain of the real one, apart from chain and address', async () => {
    const view = { abi: ausdAbi, address: ausd } as const
    const domain = await client.readContract({ ...view, functionName: 'eip712Domain' })
    expect(domain.slice(0, 5)).toEqual(['0x0f', 'Agora Dollar', '1', 10143n, ausd])
    const separator = await client.readContract({ ...view, functionName: 'DOMAIN_SEPARATOR' })
    expect(separator).toBe(
      hashDomain({
        domain: { name: 'Agora Dollar', version: '1', chainId: 10143n, verifyingContract: ausd },
        types: {
          EIP712Domain: [
            { name: 'name', type: 'string' },
            { name: 'version', type: 'string' },
            { name: 'chainId', type: 'uint256' },
            { name: 'verifyingContract', type: 'address' },
          ],
        },
      }),
    )
    expect(await client.readContract({ ...view, functionName: 'name' })).toBe('AUSD')
    expect(await client.readContract({ ...view, functionName: 'decimals' })).toBe(6)
  })

  test('a deployment ends also if the node forgets transactions that it accepted', async () => {
    await using anvil = await startAnvil(['--no-mining'])
    await using proxy = openRpcProxy({ target: anvil.rpcUrl, faults: { swallowSendRate: 0.2, seed: 1 } })
    const again = await deployContracts({
      ...fixtureTerms,
      rpcUrl: proxy.url,
      adminKey: actorKeys.admin,
      treasuryKey: actorKeys.treasury,
      relayers: [],
      verifiers: [],
    })
    expect(again).toMatchObject({ ausd, creditLine, treasury })
    expect(proxy.journal.sends.filter(({ outcome }) => outcome === 'swallowed')).not.toEqual([])
  })

  test('a deployment fails if one of its transactions reverts', async () => {
    await expect(openContractsFixture({ initialRatioBps: 0 })).rejects.toThrow('reverted')
  })
})

describe('the terms of a deployment', () => {
  const years = 3_650 * 86_400
  test.each([
    ['a grace of less than a day', { graceSeconds: 86_399 }],
    ['a grace of more than ten years', { graceSeconds: years + 1 }],
    ['a term of no time', { termSeconds: 0, minCycleSeconds: 0 }],
    ['a term of more than ten years', { termSeconds: years + 1 }],
    ['a least cycle as long as the term', { termSeconds: 600, minCycleSeconds: 600 }],
    ['a least cycle longer than the term', { termSeconds: 600, minCycleSeconds: 601 }],
    ['a hold of more than a year', { holdSeconds: 365 * 86_400 + 1 }],
    ['no initial ratio', { initialRatioBps: 0 }],
    ['an initial ratio above the cap', { initialRatioBps: 9_001 }],
    ['a least debt of more than a million AUSD', { minDebtMicro: 2n ** 40n }],
  ])('%s is refused', async (_case, terms) => {
    await expect(openContractsFixture(terms)).rejects.toThrow('reverted')
  })

  test.each([
    ['a least cycle a second shorter than the term', { termSeconds: 600, minCycleSeconds: 599 }],
    ['a hold longer than term and grace', { holdSeconds: 365 * 86_400 }],
    ['no hold, no least cycle and no least debt', { holdSeconds: 0, minCycleSeconds: 0, minDebtMicro: 0n }],
    ['the longest term and grace', { termSeconds: years, graceSeconds: years, minDebtMicro: 2n ** 40n - 1n }],
  ])('%s is accepted', async (_case, terms) => {
    const accepted = await openContractsFixture(terms)
    await accepted.close()
  })
})

describe('multicall3', () => {
  const at = { abi: ausdAbi, functionName: 'balanceOf' } as const

  test('multicall3 marks the failed reads of a batch', async () => {
    const answers = await client.multicall({
      multicallAddress: multicall3,
      contracts: [
        { ...at, address: ausd, args: [treasury] },
        { ...at, address: multicall3, args: [treasury] },
        { ...at, address: ausd, args: [actors.ana.address] },
      ],
    })
    expect(answers.map((one) => one.status)).toEqual(['success', 'failure', 'success'])
    expect(answers.map((one) => one.result)).toEqual([1_000_000_000_000n, undefined, 1_000_000_000n])
  })

  test('multicall3 reads block number, block time and native balance', async () => {
    const call = { abi: multicall3Abi, address: multicall3 } as const
    const block = await client.getBlock()
    const address = actors.ana.address
    expect([
      await client.readContract({ ...call, functionName: 'getBlockNumber' }),
      await client.readContract({ ...call, functionName: 'getCurrentBlockTimestamp' }),
      await client.readContract({ ...call, functionName: 'getEthBalance', args: [address] }),
    ]).toEqual([block.number, block.timestamp, await client.getBalance({ address })])
  })
})
