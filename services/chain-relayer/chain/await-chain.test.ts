import { afterAll, describe, expect, test } from 'bun:test'
import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { multicall3 } from '#shared/chain/client'
import { openFixture } from '../test-support'
import { inspectChain } from './await-chain'

const fixture = await openFixture()
afterAll(fixture.close)

const right = { ...fixture.expected, lanes: fixture.keys }
const other = privateKeyToAccount(generatePrivateKey())

async function lineWithVersion(answer: string): Promise<Hex> {
  const { address } = privateKeyToAccount(generatePrivateKey())
  const line = right.creditLine.slice(2)
  // The code copies the call data. For version() it jumps to the given answer; any other call it passes to the credit
  // line and returns its result.
  const copied = '365f5f375f3560e01c6354fd4d5014603b57'
  const passedOn = `5f5f365f73${line}5afa3d5f5f3e6037573d5ffd5b3d5ff35b`
  await fixture.chain.setCode({ address, bytecode: `0x${copied}${passedOn}${answer}` })
  return address
}
const oldLine = await lineWithVersion('5f5ffd') // This code reverts without data, as a call of a missing function does.
const laterLine = await lineWithVersion('60055f5260205ff3')

describe('chain-relayer', () => {
  test('starts on the configured chain, with the domain of the token', async () => {
    const domain = await inspectChain(fixture.node, right)
    expect(domain).toMatchObject({ name: 'Agora Dollar', version: '1', chainId: 10143 })
  })

  test('starts with a lane without roles beside one that has them', async () => {
    await inspectChain(fixture.node, { ...right, lanes: [other, ...fixture.keys] })
  })

  test.each([
    ['no token there', { ausd: other.address }, /AUSD_ADDRESS .* deploy/],
    ['no credit line there', { creditLine: other.address }, /CREDIT_LINE_ADDRESS .* deploy/],
    ['another token', { ausd: multicall3 }, /AUSD_ADDRESS .* is not AUSD: fix/],
    ['no line but a token', { creditLine: right.ausd }, /CREDIT_LINE_ADDRESS .* bun run deploy/],
    ['lanes without roles', { lanes: [other] }, /has no RELAYER_ROLE: grantRole/],
    ['another treasury', { treasury: other }, /set TREASURY_KEY/],
    [
      'a credit line without a version',
      { creditLine: oldLine },
      /version unknown .*, this service needs 3 or 4. Run: bun run deploy/,
    ],
    ['a later credit line', { creditLine: laterLine }, /version 5, this service needs 3 or 4. Run: bun run deploy/],
    ['no allowance', { treasury: other }, /has not approved the credit line/],
    [
      'a hold of a minute, with real money',
      { deployment: 'live' },
      /holds card payments for 60 s, with real money at least 86400 s/,
    ],
  ] as const)('fails to start on %s with a remedy', async (_case, wrong, words) => {
    await expect(inspectChain(fixture.node, { ...right, ...wrong })).rejects.toThrow(words)
  })
})
