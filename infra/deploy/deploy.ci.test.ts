import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Address,
  createWalletClient,
  type Hex,
  http,
  keccak256,
  parseGwei,
  publicActions,
  stringToHex,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { multicall3Runtime } from '#infra/contracts/artifacts.gen'
import { devAccount, devKey } from '#infra/local/keys'
import { waitUntil } from '#infra/local/wait'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { testAusd } from '#shared/chain/chain-id'
import { multicall3 } from '#shared/chain/client'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { gasLimits } from '#shared/chain/gas'
import { lineVersion } from '#shared/chain/line-version'
import {
  admin,
  creditLinesOf,
  type DeployFixture,
  type Env,
  giveAusd,
  installToken,
  openDeployFixture,
  run,
  spawnRun,
} from '#test/support/deploy/fixture'
import { gasReckoned } from './step'

const local: Env = { AUSD_ADDRESS: 'deploy', DEPLOY_TEST_FUNDS: 'yes' }
const bookOf = (fixture: DeployFixture) => readFileSync(fixture.env.ADDRESSES_FILE!, 'utf8')
const sentBy = (fixture: DeployFixture, address: Address) => fixture.client.getTransactionCount({ address })

describe('deploying on a fresh anvil', () => {
  let fixture: DeployFixture
  let printed: string
  beforeAll(async () => {
    fixture = await openDeployFixture()
    const first = await spawnRun(fixture, local)
    printed = first.text
    expect(first).toMatchObject({ exitCode: 0 })
  })
  afterAll(() => fixture.close())

  test('one run completes a fresh deployment, at addresses that never change', () => {
    const { ausd, creditLine, treasury, lanes } = JSON.parse(bookOf(fixture))
    expect({ ausd, creditLine, treasury, lanes }).toEqual({
      ausd: '0x314eB98d7273D091eF3A364229d6517d54D221Cc',
      creditLine: '0x6089fF386f27582be250E3e855254209bAd5F6b4',
      treasury: '0x92254F2ecd51c5BA5a5c9182003519beE682c1Bf',
      lanes: ['0xbEcF08d5d1928f2DE76050F7d831f82e1E1fce25', '0x487657FD4cB83E7a0B2F5a683E2Ac0eD7b23Ac7b'],
    })
  })

  test('the printed variables are complete and contain no key', () => {
    const { genesisHash, ausd, creditLine, deployBlock } = JSON.parse(bookOf(fixture))
    for (const line of [
      `GENESIS_HASH=${genesisHash}`,
      `AUSD_ADDRESS=${ausd}`,
      `CREDIT_LINE_ADDRESS=${creditLine}`,
      `DEPLOY_BLOCK=${deployBlock}`,
    ])
      expect(printed).toContain(line)
    for (const name of ['admin', 'treasury', 'lane 0', 'lane 1'])
      expect(printed + bookOf(fixture)).not.toContain(devKey(name).slice(2))
  })

  test('the credit line has the version that the services need, within the fixed gas limits', async () => {
    const { creditLine: address, deployBlock } = JSON.parse(bookOf(fixture))
    const line = { address, abi: creditLineAbi } as const
    expect(await fixture.client.readContract({ ...line, functionName: 'version' })).toBe(lineVersion)
    expect(await fixture.client.readContract({ ...line, functionName: 'minDebt' })).toBe(1_000_000n)
    expect(await fixture.client.readContract({ ...line, functionName: 'graceSeconds' })).toBe(86_400n)
    const block = { blockNumber: BigInt(deployBlock), includeTransactions: true } as const
    const { transactions } = await fixture.client.getBlock(block)
    const { hash, gas } = transactions.find(({ to }) => to === null)!
    const { gasUsed } = await fixture.client.getTransactionReceipt({ hash })
    expect(gas).toBeLessThanOrEqual(gasReckoned({ do: 'deploy_credit_line' }))
    // Storage and accounts cost more on Monad than on anvil.
    expect(gas).toBeGreaterThan((gasUsed * 115n) / 100n)
  })

  test("the gas limits are compared with the chain's estimates", async () => {
    expect(printed).toContain('gas limits compared with the chain: 8 of 8')
    const before = await sentBy(fixture, admin)
    const short = { ...gasLimits, topUp: 60_000n, transferWithAuthorization: 70_000n }
    const refused = await run(fixture, local, false, short)
    expect(refused).toMatchObject({ exitCode: 2, done: [] })
    expect(refused.text).toMatch(/topUp takes 1[0-9]{5} gas on this chain.* with 60000 /)
    expect(refused.text).toMatch(/transferWithAuthorization takes [0-9]+ gas.* with 70000 /)
    expect(refused.text).not.toContain('heldTopUp')
    expect(await sentBy(fixture, admin)).toBe(before)
  })

  test('a second run changes nothing', async () => {
    const [book, sent] = [bookOf(fixture), await sentBy(fixture, admin)]
    const again = await run(fixture, local)
    expect(again).toMatchObject({ done: [], exitCode: 0 })
    expect(bookOf(fixture)).toBe(book)
    expect(await sentBy(fixture, admin)).toBe(sent)
  })

  test('a run ends while a running stack spends AUSD of the treasury, and mints the missing AUSD once', async () => {
    const { ausd: address } = JSON.parse(bookOf(fixture))
    const account = privateKeyToAccount(devKey('treasury'))
    const spender = createWalletClient({ account, transport: http(fixture.rpcUrl) }).extend(publicActions)
    const stop = new AbortController()
    const cost = { chain: null, gas: 100_000n, gasPrice: parseGwei('200') }
    let spent = 0
    const spend = async () => {
      for (let amount = 1n; !stop.signal.aborted; amount += 1n) {
        const transfer = { address, abi: ausdAbi, functionName: 'transfer', args: [admin, amount] } as const
        await spender.waitForTransactionReceipt({
          hash: await spender.writeContract({ ...transfer, ...cost }),
          pollingInterval: 20,
        })
        spent++
      }
    }
    const spending = spend()
    await waitUntil('the first transfers', () => spent > 2)
    const { done, exitCode, text } = await run(fixture, local)
    stop.abort()
    await spending
    await run(fixture, local) // The other tests expect a complete deployment.
    expect(done).toEqual([expect.stringMatching(/^mint /)])
    expect(text).toContain('complete: nothing is missing')
    expect(exitCode).toBe(0)
  })

  test('without the addresses file, the credit line is found by its address, with its deploy block', async () => {
    const { creditLine, ausd } = JSON.parse(bookOf(fixture))
    const ADDRESSES_FILE = join(fixture.dir, 'attached.json')
    const where = { CREDIT_LINE_ADDRESS: creditLine, AUSD_ADDRESS: ausd, ADDRESSES_FILE }
    expect(await run(fixture, where)).toMatchObject({ done: [], exitCode: 0 })
    expect(readFileSync(ADDRESSES_FILE, 'utf8')).toBe(bookOf(fixture))
  })

  test('a new lane gets its roles, and a manual task to fund it', async () => {
    const lane = devAccount('lane 9').address
    const more = { AUSD_ADDRESS: 'deploy', LANE_KEYS: devKey('lane 9') }
    const answer = await run(fixture, more)
    expect(answer.done).toEqual([`grant RELAYER_ROLE ${lane}`, `grant VERIFIER_ROLE ${lane}`])
    expect(answer.text).toContain(`send 13 MON to lane ${lane}`)
    expect(answer.exitCode).toBe(1)
  })

  test('an admin without the role changes nothing', async () => {
    const lane = devAccount('lane 8').address
    const more = { ...local, ADMIN_KEY: devKey('nobody'), LANE_KEYS: devKey('lane 8') }
    const answer = await run(fixture, more)
    expect(answer.exitCode).toBe(1)
    expect(answer.text).toContain(`its admin must grant RELAYER_ROLE to lane ${lane}`)
    expect(await sentBy(fixture, devAccount('nobody').address)).toBe(0)
  })

  const nowhere = devAccount('nowhere').address
  const noFile = () => ({ ADDRESSES_FILE: join(fixture.dir, 'none.json') })
  test.each<[string, () => Env, RegExp]>([
    ['another chain id', () => ({ CHAIN_ID: '1' }), /chain 10143, CHAIN_ID is 1/],
    ['another genesis', () => ({ GENESIS_HASH: `0x${'00'.repeat(32)}` }), /set GENESIS_HASH/],
    ['no token there', () => ({ AUSD_ADDRESS: nowhere }), /no contract at AUSD_ADDRESS/],
    ['no AUSD there', () => ({ AUSD_ADDRESS: multicall3 }), /this is not AUSD/],
    [
      'a foreign contract for a credit line',
      () => ({
        ...noFile(),
        CREDIT_LINE_ADDRESS: multicall3,
        AUSD_ADDRESS: JSON.parse(bookOf(fixture)).ausd,
      }),
      /is not a credit line/,
    ],
    [
      'no contract for a credit line',
      () => ({
        ...noFile(),
        CREDIT_LINE_ADDRESS: nowhere,
        AUSD_ADDRESS: JSON.parse(bookOf(fixture)).ausd,
      }),
      /no contract at .* CREDIT_LINE_ADDRESS/,
    ],
    ['the key of another treasury', () => ({ TREASURY_KEY: devKey('nobody') }), /set TREASURY_KEY/],
  ])('a run with %s is refused with the fix', async (_case, more, words) => {
    const sent = await sentBy(fixture, admin)
    const answer = await run(fixture, { ...local, ...more() })
    expect(answer.text).toMatch(words)
    expect(answer).toMatchObject({ done: [], exitCode: 2 })
    expect(await sentBy(fixture, admin)).toBe(sent)
  })

  test('a chain that started over resets the addresses file, but only with test funds', async () => {
    const stale = { ...JSON.parse(bookOf(fixture)), genesisHash: `0x${'11'.repeat(32)}` }
    const ADDRESSES_FILE = join(fixture.dir, 'stale.json')
    writeFileSync(ADDRESSES_FILE, JSON.stringify(stale))
    const asReal = await run(fixture, { ADDRESSES_FILE, AUSD_ADDRESS: 'deploy' })
    expect(asReal).toMatchObject({ exitCode: 2, done: [] })
    const forTests = await run(fixture, { ...local, ADDRESSES_FILE }, true)
    expect(forTests.deployment.plan.steps.map((step) => step.do)).toContain('deploy_credit_line')
  })
})

describe('deploying on a chain with the real AUSD', () => {
  let fixture: DeployFixture
  beforeAll(async () => {
    fixture = await openDeployFixture()
    await fixture.client.setCode({ address: multicall3, bytecode: multicall3Runtime })
    await installToken(fixture, testAusd)
  })
  afterAll(() => fixture.close())

  test('an admin without funds gets only a list of manual tasks', async () => {
    const answer = await run(fixture)
    expect(answer).toMatchObject({ done: [], exitCode: 1 })
    // The amount follows from the chain's base fee, which falls while nothing happens. plan.test.ts has the sums.
    expect(answer.text).toMatch(/send (?!0+(\.0+)? )\d+(\.\d+)? MON to admin 0x\w{40}: for gas/)
    expect(answer.text).toMatch(/send 1000 AUSD to treasury .* requestFunds\(0x/)
    expect(await sentBy(fixture, admin)).toBe(0)
  })

  test('the deployment is complete after the manual tasks', async () => {
    for (const todo of (await run(fixture)).deployment.plan.todos) {
      if (!('send' in todo)) throw new Error(`cannot be sent: ${todo.say}`)
      const { to: address, amount } = todo
      if (todo.send === 'ausd') await giveAusd(fixture, testAusd, address, amount)
      else await fixture.client.setBalance({ address, value: amount })
    }
    const answer = await run(fixture)
    expect(answer.text).toContain('complete: nothing is missing')
    expect(answer.exitCode).toBe(0)
    expect(await creditLinesOf(fixture, admin)).toHaveLength(1)
    expect(await run(fixture)).toMatchObject({ done: [], exitCode: 0 })
  })

  const renamed = (code: Hex) => code.replace(hexOf('Agora Dollar'), hexOf('Agora Dolour')) as Hex
  const unhashed = (code: Hex) =>
    code.replaceAll(keccak256(stringToHex('Agora Dollar')).slice(2), '11'.repeat(32)) as Hex
  test.each([
    ['domain name', renamed, /the name "Agora Dolour", not "Agora Dollar"/],
    ['separator', unhashed, /DOMAIN_SEPARATOR .* does not match/],
  ] as const)('a token with another %s is refused', async (_case, change, words) => {
    const token = devAccount('token').address
    await installToken(fixture, token, change)
    const answer = await run(fixture, { AUSD_ADDRESS: token })
    expect(answer.text).toMatch(words)
    expect(answer.exitCode).toBe(2)
  })
})

const hexOf = (text: string) => stringToHex(text).slice(2)
