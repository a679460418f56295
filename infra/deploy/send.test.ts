import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { parseEther, parseTransaction, type TransactionSerializedEIP1559 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { devAccount, devKey } from '#infra/local/keys'
import { type DeployFixture, openDeployFixture } from '#test/support/deploy/fixture'
import type { Pending } from './addresses'
import { type DeployNode, openNode } from './node'
import { maxFeeOver } from './observe'
import { prepare, untilFinal } from './send'

const from = devAccount('admin').address
const signer = privateKeyToAccount(devKey('admin'))
const signers = new Map([[from, signer]])
const call = { from, to: devAccount('lane 0').address, data: '0x' } as const
const pace = { pollMs: 40, resendAfterMs: 100, bumpAfterMs: 400 }

let fixture: DeployFixture
let node: DeployNode
beforeAll(async () => {
  fixture = await openDeployFixture()
  node = await openNode([fixture.rpcUrl], 5_000)
  await fixture.client.setBalance({ address: from, value: parseEther('1000') })
})
afterAll(() => fixture.close())

const prepared = (nonceLeast = 0) => prepare(node, signers, { step: 'test', call, nonceLeast })
function finalOutcome(pending: Pending, through: DeployNode = node, withinMs = 60_000) {
  const kept: Pending[] = []
  const keep = (raised: Pending) => void kept.push(raised)
  return untilFinal(through, signers, pending, { withinMs, keep, pace }).then((outcome) => ({
    outcome,
    kept,
  }))
}

describe('a deployment transaction', () => {
  test("a transaction is of type 2, at least at Monad's minimum fee, with a nonce that the caller chose", async () => {
    const { nonce, attempts } = await prepared(7)
    const fields = parseTransaction(attempts[0] as TransactionSerializedEIP1559)
    expect({ nonce, ...fields }).toMatchObject({ type: 'eip1559', chainId: 10_143, nonce: 7 })
    expect(fields.maxFeePerGas).toBeGreaterThanOrEqual(100_000_000_000n)
    expect(fields.gas).toBe(25_200n)
  })

  test.each([
    [0n, 100_000_000_000n],
    [33_000_000_000n, 100_000_000_000n],
    [100_000_000_000n, 300_000_000_000n],
  ])('over a base fee of %p a transaction bids at most %p', (baseFeeWei, feeWei) => {
    expect(maxFeeOver(baseFeeWei)).toBe(feeWei)
  })

  test('a transaction is final only when its block is final', async () => {
    const { outcome } = await finalOutcome(await prepared())
    if (outcome.final !== 'done') throw new Error(outcome.final)
    const finalized = await fixture.client.getBlock({ blockTag: 'finalized' })
    expect(outcome.blockNumber).toBeLessThanOrEqual(finalized.number)
  })

  test('a transaction that the node swallows is resent under the same nonce at a higher fee', async () => {
    const pending = await prepared()
    const lost: DeployNode = {
      ...node,
      sendRaw: async (raw) => (raw === pending.attempts[0] ? null : node.sendRaw(raw)),
    }
    const { outcome, kept } = await finalOutcome(pending, lost)
    expect(outcome.final).toBe('done')
    const [first, second] = kept[0]!.attempts.map((raw) => parseTransaction(raw as TransactionSerializedEIP1559))
    expect(second!.maxFeePerGas!).toBeGreaterThan(first!.maxFeePerGas!)
    const content = ({ nonce, to, data, gas }: NonNullable<typeof first>) => ({
      nonce,
      to,
      data,
      gas,
    })
    expect(content(second!)).toEqual(content(first!))
  })

  test('a transaction whose nonce was used by another one is reported as lost', async () => {
    const pending = await prepared()
    const other = await prepare(node, signers, {
      step: 'other',
      nonceLeast: 0,
      call: { ...call, to: devAccount('lane 1').address },
    })
    expect(other.nonce).toBe(pending.nonce)
    await finalOutcome(other)
    expect((await finalOutcome(pending)).outcome).toEqual({ final: 'superseded' })
  })

  test("a transaction that every node refuses is unknown, with the node's message", async () => {
    const refusing: DeployNode = { ...node, sendRaw: async () => 'Transaction pool is full' }
    const waiting = finalOutcome(await prepared(), refusing, 300)
    await expect(waiting).rejects.toThrow(/unknown .*Transaction pool is full.* run again/)
  })
})
