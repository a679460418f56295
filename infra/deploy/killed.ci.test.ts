import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { erc20Abi, keccak256, parseTransaction } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { devKey } from '#infra/local/keys'
import { waitUntil } from '#infra/local/wait'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import {
  admin,
  creditLinesOf,
  type DeployFixture,
  openDeployFixture,
  spawnRun,
  treasury,
} from '#test/support/deploy/fixture'

const local = { AUSD_ADDRESS: 'deploy', DEPLOY_TEST_FUNDS: 'yes' }

/**
 * Points at which a run dies, in order: each of the four points of a step at two kinds of steps or more. Each run
 * continues where the last one died.
 */
const killPoints = [
  'signed:deploy_ausd',
  'signed:deploy_credit_line',
  'recorded:deploy_credit_line',
  'sent:deploy_credit_line',
  'final:deploy_credit_line',
  'sent:grant',
  'recorded:approve_credit_line',
  'sent:mint',
  'final:fund_liquidity',
]

const bookOf = (fixture: DeployFixture) => JSON.parse(readFileSync(fixture.env.ADDRESSES_FILE!, 'utf8'))

async function killedAt(fixture: DeployFixture, point: string) {
  const FAILPOINT_FILE = join(fixture.dir, 'failpoint')
  writeFileSync(FAILPOINT_FILE, `deploy:${point}`)
  const killed = await spawnRun(fixture, { ...local, FAILPOINT_FILE })
  expect([point, killed.signal]).toEqual([point, 'SIGKILL'])
  expect(existsSync(FAILPOINT_FILE)).toBe(false)
}

describe('a deployment that is killed repeatedly', () => {
  let fixture: DeployFixture
  beforeAll(async () => {
    fixture = await openDeployFixture()
  })
  afterAll(() => fixture.close())

  test('a deployment that is killed repeatedly ends with one credit line and has sent each step once', async () => {
    for (const point of killPoints) await killedAt(fixture, point)
    const { exitCode, text } = await spawnRun(fixture, local)
    expect(text).toContain('complete: nothing is missing')
    expect(exitCode).toBe(0)

    const { ausd, creditLine, pending } = bookOf(fixture)
    expect(pending).toBeUndefined()
    expect(await creditLinesOf(fixture, admin)).toEqual([creditLine])
    // The transactions are both contracts, two roles for each of two lanes, two mints, approval and funding.
    expect(await fixture.client.getTransactionCount({ address: admin })).toBe(10)
    expect(await fixture.client.getTransactionCount({ address: treasury })).toBe(1)
    const token = { address: ausd, abi: erc20Abi } as const
    expect(await fixture.client.readContract({ ...token, functionName: 'totalSupply' })).toBe(2_000_000_000n)
    expect(
      await fixture.client.readContract({
        address: creditLine,
        abi: creditLineAbi,
        functionName: 'liquidity',
      }),
    ).toBe(1_000_000_000n)
  })
})

describe('a deployment step that another run completed at another fee', () => {
  let fixture: DeployFixture
  beforeAll(async () => {
    fixture = await openDeployFixture()
  })
  afterAll(() => fixture.close())

  test('a deployment step that another run completed at another fee is found and not sent again', async () => {
    await killedAt(fixture, 'recorded:deploy_credit_line')
    const { nonce, attempts } = bookOf(fixture).pending
    const { r: _, s: __, v: ___, yParity: ____, ...fields } = parseTransaction(attempts[0])
    const higher = { ...fields, maxFeePerGas: fields.maxFeePerGas! * 2n }
    const raw = await privateKeyToAccount(devKey('admin')).signTransaction(higher as never)
    await fixture.client.sendRawTransaction({ serializedTransaction: raw })
    await waitUntil('the other transaction', async () => {
      const count = await fixture.client.getTransactionCount({ address: admin })
      return count > nonce
    })

    const { exitCode, text } = await spawnRun(fixture, local)
    expect(text).toContain('deploy_credit_line was superseded by another transaction')
    expect(exitCode).toBe(0)
    const { creditLine, deployBlock } = bookOf(fixture)
    expect(await creditLinesOf(fixture, admin)).toEqual([creditLine])
    const receipt = await fixture.client.getTransactionReceipt({ hash: keccak256(raw) })
    expect(BigInt(deployBlock)).toBe(receipt.blockNumber)
  })
})
