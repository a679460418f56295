import { afterAll, describe, expect, test } from 'bun:test'
import { encodeFunctionData, hashDomain } from 'viem'
import { startAnvil } from '#infra/contracts/anvil-process'
import { multicall3Address } from '#infra/contracts/deploy'
import { actors, openStage } from '#infra/contracts/stage'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'

const stage = await openStage()
afterAll(stage.close)
const { client, deployment } = stage
const { ausd, creditLine, treasury } = deployment

describe('a deployment', () => {
  test('has the same addresses on another fresh chain, whatever its block time', async () => {
    await using slow = await startAnvil(['--block-time', '30'])
    const { deployContracts } = await import('#infra/contracts/deploy')
    const { stageTerms, actorKeys } = await import('#infra/contracts/stage')
    const again = await deployContracts({
      ...stageTerms,
      rpcUrl: slow.rpcUrl,
      adminKey: actorKeys.admin,
      treasuryKey: actorKeys.treasury,
      relayers: [],
      verifiers: [],
    })
    expect(again).toMatchObject({ ausd, creditLine, treasury })
  })

  test('tells where the chain began', async () => {
    const genesis = await client.getBlock({ blockNumber: 0n })
    expect(deployment.genesisHash).toBe(genesis.hash)
    expect(await client.getCode({ address: creditLine, blockNumber: deployment.deployBlock })).not.toBe(
      undefined,
    )
  })

  test('funds the treasury and the lending pool', async () => {
    expect(await stage.balanceOf(treasury)).toBe(1_000_000_000_000n)
    expect(await stage.balanceOf(creditLine)).toBe(100_000_000_000n)
    const view = { abi: creditLineAbi, address: creditLine } as const
    expect(await client.readContract({ ...view, functionName: 'liquidity' })).toBe(100_000_000_000n)
    expect(await client.readContract({ ...view, functionName: 'totalCollateral' })).toBe(0n)
  })

  test('carries the domain of the real token, apart from chain and address', async () => {
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

  test('refuses to be funded by a step that reverts', async () => {
    await expect(openStage({ initialRatioBps: 0 })).rejects.toThrow('reverted')
  })
})

describe('multicall3', () => {
  const batch = { abi: ausdAbi, address: ausd, functionName: 'balanceOf' } as const

  test('answers a batch of reads with the failures marked', async () => {
    const answers = await client.multicall({
      multicallAddress: multicall3Address,
      contracts: [
        { ...batch, args: [treasury] },
        { abi: ausdAbi, address: ausd, functionName: 'getRoleMember', args: [] } as never,
        { ...batch, args: [actors.ana.address] },
      ].filter((_, index) => index !== 1),
    })
    expect(answers.map((one) => one.result)).toEqual([1_000_000_000_000n, 1_000_000_000n])
    const failing = await client.multicall({
      multicallAddress: multicall3Address,
      contracts: [{ ...batch, address: multicall3Address, args: [treasury] }],
    })
    expect(failing[0]!.status).toBe('failure')
  })

  test('knows block number, block time and native balance', async () => {
    const abi = [
      'getBlockNumber',
      'getCurrentBlockTimestamp',
    ].map((name) => ({
      type: 'function' as const,
      name,
      inputs: [],
      outputs: [{ type: 'uint256' }],
      stateMutability: 'view' as const,
    }))
    const block = await client.getBlock()
    const call = { abi, address: multicall3Address }
    expect(await client.readContract({ ...call, functionName: 'getBlockNumber' })).toBe(block.number)
    expect(await client.readContract({ ...call, functionName: 'getCurrentBlockTimestamp' })).toBe(
      block.timestamp,
    )
    void encodeFunctionData
  })
})
