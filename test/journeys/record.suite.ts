import { beforeAll, describe, expect, test } from 'bun:test'
import { getAddress, keccak256, stringToHex } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import { devKey } from '#infra/local/keys'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { recordingSeconds } from '#shared/chain/recording-seconds'
import { refOf } from '#shared/chain/ref'
import { groupStack } from '../runner/group'
import { borrower } from '../support/flows'
import { chainSeconds } from '../support/ledger'
import { callerOf, newCaller } from '../support/people'
import { servesTruth, recordTerms as terms, verify } from '../support/verify'

let stack: Stack

beforeAll(async () => {
  stack = groupStack()
  // `/ready` succeeds before the reader has first caught up.
  await servesTruth(stack, privateKeyToAddress(generatePrivateKey()))
})

const digits = expect.stringMatching(/^[0-9]+$/)
const unixSeconds = expect.stringMatching(/^[0-9]{10}$/)
const hash = expect.stringMatching(/^0x[0-9a-f]{64}$/)

/** Returns the record with its history, which a late reader leaves out. */
const whole = (wallet: string, init?: RequestInit) =>
  waitUntil('the history', async () => {
    const served = await verify(stack, wallet, init)
    return served.body?.indexer === 'ok' && served
  })

describe('the record of an unknown wallet', () => {
  const wallet = privateKeyToAddress(generatePrivateKey())

  test('is a valid, empty record, without a session', async () => {
    const { status, body, headers } = await whole(wallet.toLowerCase())
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

  test('is readable from every origin, and cached briefly', async () => {
    const origin = { headers: { Origin: 'https://anybody.example' } }
    const first = await whole(wallet, origin)
    expect(first.headers.get('access-control-allow-origin')).toBe('*')
    expect(first.headers.get('cache-control')).toMatch(/^public, max-age=[0-9]$/)
    const etag = first.headers.get('etag')!
    const again = await waitUntil('the same record', async () => {
      const served = await verify(stack, wallet, { headers: { 'If-None-Match': etag } })
      return served.status === 304 && served
    })
    expect(again.body).toBeUndefined()
    expect(again.headers.get('etag')).toBe(etag)
    const other = await whole(wallet, { headers: { 'If-None-Match': '"another"' } })
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

/** Draws and waits until the cycle is old enough to count. */
async function drawToCount(person: Person, micro: bigint): Promise<void> {
  await person.draw(micro)
  const countsAt = (await chainSeconds(stack)) + terms.minCycleSeconds
  await waitUntil('time passing', async () => (await chainSeconds(stack)) >= countsAt)
}

const has = { ausdMicro: 50_000_000n, wei: 10n ** 19n }

describe('the record of a wallet with a debt', () => {
  test('has an open cycle with null for what has not happened yet', async () => {
    const person = await borrower(stack, has)
    await person.draw(5_000_000n)
    await person.repay(1_500_000n)
    const record = await waitUntil('the part repayment', async () => {
      const seen = await servesTruth(stack, person.wallet)
      return seen.history.repayCount === 1 && seen
    })
    expect(record).toMatchObject({ cycles: 0, history: { cycleCount: 0, cyclesOpened: 1 } })
    const { cycle } = await person.me()
    expect(cycle).toEqual({
      number: 1,
      openedAt: unixSeconds,
      dueAt: record.history.cycles[0]!.dueAt,
      defaultsAt: unixSeconds,
      sentence: expect.stringContaining('Repay'),
    })
    expect(record.history.cycles).toEqual([
      {
        number: 1,
        outcome: null,
        openedAt: unixSeconds,
        dueAt: unixSeconds,
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

describe('the record of a wallet whose payment was reversed', () => {
  test('has a cycle that is Reversed, and the restored debt', async () => {
    const person = await borrower(stack, has)
    const wallet = person.account.address
    // The test has a relayer of its own, because the service's keys are in use by its relayer.
    const relayer = await newCaller(stack)
    const grant = [keccak256(stringToHex('RELAYER_ROLE')), relayer.account.address]
    await callerOf(stack, devKey('admin')).call('grantRole', grant)

    await drawToCount(person, 4_000_000n)
    const ref = refOf(`card payment of ${wallet}`)
    const paidAt = BigInt(await chainSeconds(stack))
    await relayer.call('repayFor', [ref, wallet, 4_000_000n, true, paidAt])
    const me = await person.until('the repayment', (seen) => seen.drawn === '0' && seen)
    expect(me).toMatchObject({
      encumbered: '4000000',
      encumberedUntil: unixSeconds,
      available: String(BigInt(me.limit) - 4_000_000n),
      score: '10',
      cycles: 1,
    })
    const given = await waitUntil('a closed cycle', async () => {
      const seen = await servesTruth(stack, person.wallet)
      return seen.history.cycleCount === 1 && seen.history.cycles
    })
    expect(given).toMatchObject([{ outcome: 'Qualified', scoreAfter: '10' }])

    await relayer.call('revokeRepayment', [ref, 0n])
    const record = await waitUntil('the reversal', async () => {
      const seen = await servesTruth(stack, person.wallet)
      return seen.history.cyclesOpened === 2 && seen
    })
    expect(record).toMatchObject({
      score: '0',
      cycles: 1,
      history: { score: '0', cycleCount: 1, repayCount: 0 },
    })
    expect(record.history.cycles).toEqual([
      { ...given[0]!, outcome: 'Reversed', totalRepaid: '0', scoreAfter: '0' },
      {
        number: 2,
        outcome: null,
        openedAt: given[0]!.openedAt,
        dueAt: given[0]!.dueAt,
        closedAt: null,
        peakDrawn: '4000000',
        totalRepaid: '0',
        scoreAfter: null,
        openTxHash: hash,
        closeTxHash: null,
      },
    ])
    const back = { drawn: '4000000', encumbered: '0', encumberedUntil: null, score: '0' }
    expect(await person.me()).toMatchObject(back)
  })
})

describe('the record of a wallet that paid, then paid late, then defaulted', () => {
  test('has all three cycles, exactly as on the chain', async () => {
    const person = await borrower(stack, has)
    await drawToCount(person, 4_000_000n)
    await person.repay(4_000_000n)
    await person.draw(3_000_000n)
    await outsideOf(stack.info).advance(terms.termSeconds + 1)
    await person.repay(3_000_000n)
    await person.draw(2_000_000n)
    await outsideOf(stack.info).advance(terms.termSeconds + terms.graceSeconds + recordingSeconds + 1)
    const stranger = await newCaller(stack)
    await stranger.call('markDefault', [person.account.address])

    const record = await waitUntil('three closed cycles', async () => {
      const seen = await servesTruth(stack, person.wallet)
      return seen.history.cycleCount === 3 && seen
    })
    const closed = {
      openedAt: unixSeconds,
      dueAt: unixSeconds,
      closedAt: unixSeconds,
      openTxHash: hash,
    }
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
})
