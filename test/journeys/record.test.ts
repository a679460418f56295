import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Address, createWalletClient, getAddress, type Hex, http, publicActions } from 'viem'
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { outsideOf } from '#infra/demo/outside'
import type { Person } from '#infra/demo/person'
import { bid } from '#infra/local/fees'
import { devKey } from '#infra/local/keys'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { chainOf } from '#shared/chain/client'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { openCheckout } from '../checkout'
import { resident } from '../people'
import { ownStack } from '../stack'
import { servesTruth, verify } from '../verify'

const terms = { minCycleSeconds: 1, termSeconds: 4, graceSeconds: 3 }
let stack: Stack

beforeAll(async () => {
  stack = await ownStack({ terms })
  // Ready is said before the reader has caught up for the first time.
  await servesTruth(stack, privateKeyToAddress(generatePrivateKey()))
}, 90_000)
afterAll(() => stack?.[Symbol.asyncDispose]())

const digits = expect.stringMatching(/^[0-9]+$/)
const unixSeconds = expect.stringMatching(/^[0-9]{10}$/)
const hash = expect.stringMatching(/^0x[0-9a-f]{64}$/)

describe('the record of a wallet nobody has seen', () => {
  const wallet = privateKeyToAddress(generatePrivateKey())

  test('is a valid, empty record, without a session', async () => {
    const { status, body, headers } = await verify(stack, wallet.toLowerCase())
    expect(status).toBe(200)
    expect(headers.get('content-type')).toContain('application/json')
    expect(body).toEqual({
      account: wallet,
      verified: false,
      score: '0',
      ratioBps: '5000',
      cycles: 0,
      defaulted: false,
      history: {
        score: '0',
        cycleCount: 0,
        repayCount: 0,
        cyclesOpened: 0,
        defaulted: false,
        verifiedAt: null,
        firstSeenAt: null,
        cycles: [],
      },
      indexer: 'ok',
    })
  })

  test('is open to every page, and cached shortly', async () => {
    const origin = { headers: { Origin: 'https://anybody.example' } }
    const first = await verify(stack, wallet, origin)
    expect(first.headers.get('access-control-allow-origin')).toBe('*')
    expect(first.headers.get('cache-control')).toMatch(/^public, max-age=[0-9]$/)
    const etag = first.headers.get('etag')!
    const again = await verify(stack, wallet, { headers: { 'If-None-Match': etag } })
    expect(again).toMatchObject({ status: 304, body: undefined })
    expect(again.headers.get('etag')).toBe(etag)
    const other = await verify(stack, wallet, { headers: { 'If-None-Match': '"another"' } })
    expect(other).toMatchObject({ status: 200, body: first.body })
  })

  test.each([
    ['0x1234', 'too short'],
    [`${wallet}00`, 'too long'],
    [wallet.slice(2), 'without 0x'],
    [`0x${'g'.repeat(40)}`, 'with a letter that is no hex digit'],
  ])('is refused for %s, which is %s', async (malformed) => {
    const { status, body } = await verify(stack, malformed)
    expect({ status, body }).toEqual({
      status: 400,
      body: { error: 'wallet must be an address: 0x and 40 hex digits' },
    })
  })
})

/** Somebody without any role, who calls the contract as anybody may. */
function anybody() {
  const { rpcUrl, chainId, creditLine } = stack.info.chain
  const account = privateKeyToAccount(devKey('wallet 9'))
  const client = createWalletClient({
    account,
    chain: chainOf(chainId),
    transport: http(rpcUrl),
  }).extend(publicActions)
  return {
    nowSeconds: async () => Number((await client.getBlock()).timestamp),
    markDefault: async (wallet: Address) => {
      const call = { functionName: 'markDefault', args: [wallet], gas: 400_000n } as const
      const at = { address: creditLine as Hex, abi: creditLineAbi, ...(await bid(client)) }
      const sent = await client.writeContract({ ...at, ...call })
      const receipt = await waitUntil('the default', () =>
        client.getTransactionReceipt({ hash: sent }).catch(() => undefined),
      )
      expect(receipt.status).toBe('success')
    },
  }
}

async function borrower(): Promise<Person> {
  const person = await resident(stack, { ausdMicro: 50_000_000n, wei: 10n ** 19n })
  const checkout = await openCheckout(person, { pair: 'USD/IDR', amount: '500000', method: 'qr' })
  await outsideOf(stack.info).pay(checkout.paymentId, 'QRIS')
  await person.until('collateral', (me) => me.collateral.value === checkout.ausd)
  return person
}

describe('the record of a wallet that was good, then late, then defaulted', () => {
  test('tells all three cycles, exactly as the chain has them', async () => {
    const person = await borrower()
    const { nowSeconds, markDefault } = anybody()
    const drawUntilAge = async (micro: bigint, ageSeconds: number) => {
      await person.draw(micro)
      const openedAt = await nowSeconds()
      await waitUntil('time passing', async () => (await nowSeconds()) > openedAt + ageSeconds)
    }
    await drawUntilAge(4_000_000n, 0)
    await person.repay(4_000_000n)
    await drawUntilAge(3_000_000n, terms.termSeconds)
    await person.repay(3_000_000n)
    await drawUntilAge(2_000_000n, terms.termSeconds + terms.graceSeconds)
    await markDefault(person.account.address)

    const record = await waitUntil('three closed cycles', async () => {
      const { history } = await servesTruth(stack, person.wallet)
      return history.cycleCount === 3 && (await verify(stack, person.wallet)).body
    })
    const closed = { openedAt: unixSeconds, closedAt: unixSeconds, openTxHash: hash }
    const cycle = { ...closed, closeTxHash: hash, scoreAfter: digits }
    expect(record).toEqual({
      account: getAddress(person.wallet),
      verified: true,
      score: '0',
      ratioBps: '5000',
      cycles: 3,
      defaulted: true,
      history: {
        score: '0',
        cycleCount: 3,
        repayCount: 2,
        cyclesOpened: 3,
        defaulted: true,
        verifiedAt: unixSeconds,
        firstSeenAt: unixSeconds,
        cycles: [
          {
            ...cycle,
            number: 1,
            outcome: 'Qualified',
            peakDrawn: '4000000',
            totalRepaid: '4000000',
            scoreAfter: '10',
          },
          {
            ...cycle,
            number: 2,
            outcome: 'Late',
            peakDrawn: '3000000',
            totalRepaid: '3000000',
            scoreAfter: '0',
          },
          {
            ...cycle,
            number: 3,
            outcome: 'Defaulted',
            peakDrawn: '2000000',
            totalRepaid: '2000000',
            scoreAfter: '0',
          },
        ],
      },
      indexer: 'ok',
    })
    if (process.env.SHOW_RECORD === '1') console.log(JSON.stringify(record, null, 2))
  })

  test('tells of an open cycle what has happened, and null for what has not', async () => {
    const person = await borrower()
    await person.draw(5_000_000n)
    await person.repay(1_500_000n)
    const record = await waitUntil('the part repayment', async () => {
      const seen = await servesTruth(stack, person.wallet)
      return seen.history.repayCount === 1 && seen
    })
    expect(record).toMatchObject({ cycles: 0, history: { cycleCount: 0, cyclesOpened: 1 } })
    expect(record.history.cycles).toEqual([
      {
        number: 1,
        outcome: null,
        openedAt: unixSeconds,
        closedAt: null,
        peakDrawn: '5000000',
        totalRepaid: '1500000',
        scoreAfter: null,
        openTxHash: hash,
        closeTxHash: null,
      },
    ])
  })
})
