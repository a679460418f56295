import { afterAll, describe, expect, test } from 'bun:test'
import { openLog } from '#platform/log'
import { openProviderClient } from '#shared/provider/client'
import { ProviderUnknown } from '#shared/provider/problem'
import type { Evidence } from '../../provider'
import { xenditPayouts } from './client'
import { evidenceFrom } from './mapping'

type ReceivedCall = {
  version: string | null
  path: string
  method: string
  key: string | null
  body: string
}
let seen: ReceivedCall[] = []
let answer: () => Response
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: async (request) => {
    const { pathname, search } = new URL(request.url)
    const key = request.headers.get('Idempotency-key')
    const version = request.headers.get('api-version')
    seen.push({
      version,
      path: pathname + search,
      method: request.method,
      key,
      body: await request.text(),
    })
    return answer()
  },
})
afterAll(() => server.stop(true))
const log = openLog('payouts', 'silent')
const provider = xenditPayouts(
  openProviderClient({
    baseUrl: server.url.origin,
    secretKey: 'k',
    account: 'ID' as const,
    log,
    requestsPerMinute: 60_000,
  }),
)

const id = '7f9c24e8-3b1a-8d52-9e0f-1c2d3e4f5a6b'
const order = {
  id,
  fiatMinor: 250_000n,
  channelCode: 'ID_BCA',
  accountNumber: '1234567890',
  accountHolderName: 'Sari Dewi',
  promised: {
    wallet: `0x${'a'.repeat(40)}`,
    rate: '16250',
    ausd: '15384616',
    quote_id: id,
    request_fingerprint: `cashout:${'A'.repeat(43)}`,
    authorization_nonce: `0x${'1'.repeat(64)}`,
  },
}
const payout = {
  id: 'disb-aaaaaaaa-0000-4000-8000-0000000000d1',
  amount: 250_000,
  channel_code: 'ID_BCA',
  currency: 'IDR',
  reference_id: id,
  status: 'ACCEPTED',
  business_id: 'b',
  channel_properties: { account_number: '1234567890', account_holder_name: 'Sari Dewi' },
}
const evidence: Evidence = {
  payoutId: payout.id,
  referenceId: id,
  status: 'pending' as const,
  word: 'ACCEPTED',
  failureCode: null,
  reason: null,
  amountMinor: 250_000n,
  currency: 'IDR',
}

describe('an order for a payout', () => {
  test('has one key and one body on every attempt', async () => {
    seen = []
    answer = () => Response.json(payout)
    expect(await provider.create(order, 'v2')).toEqual({ ok: evidence })
    await provider.create({ ...order }, 'v2')
    expect(seen.map(({ key }) => key)).toEqual([id, id])
    expect(seen[0]!.body).toBe(seen[1]!.body)
    expect(JSON.parse(seen[0]!.body)).toEqual({
      reference_id: id,
      channel_code: 'ID_BCA',
      channel_properties: { account_number: '1234567890', account_holder_name: 'Sari Dewi' },
      amount: 250_000,
      currency: 'IDR',
      description: 'AUSD 7f9c24e8',
      metadata: order.promised,
    })
  })

  test.each([
    ['ID_BRI', '12345678901234', '012345678901234'],
    ['ID_BRI', '123456789012345', '123456789012345'],
    ['ID_BRI', '1234567890123', '1234567890123'],
    ['ID_MANDIRI', '12345678901234', '12345678901234'],
    ['ID_NEW', '12345678901234', '12345678901234'],
  ])('of %s to %s has the number as the bank stores it', async (channelCode, given, sent) => {
    seen = []
    answer = () => Response.json(payout)
    await provider.create({ ...order, channelCode, accountNumber: given }, 'v2')
    expect(JSON.parse(seen[0]!.body).channel_properties.account_number).toBe(sent)
  })

  test.each([
    [400, 'CHANNEL_CODE_NOT_SUPPORTED', 'channel_unavailable'],
    [400, 'RECIPIENT_ACCOUNT_NUMBER_ERROR', 'destination_wrong'],
    [409, 'DUPLICATE_ERROR', 'conflict'],
    [400, 'DUPLICATE_ERROR', 'conflict'],
  ] as const)('refused with %p %s means %s', async (status, error_code, meaning) => {
    answer = () => Response.json({ error_code, message: 'no' }, { status })
    expect(await provider.create(order, 'v2')).toEqual({ refused: { code: error_code, meaning } })
  })

  test.each([
    ['500', () => Response.json({ error_code: 'SERVER_ERROR' }, { status: 500 })],
    ['HTML', () => new Response('<html>')],
    ['another form', () => Response.json({ id: 'disb-1' })],
    ['a refusal without a code', () => new Response('no', { status: 400 })],
  ] as const)('with the response %s is unknown, and is not repeated automatically', async (_, reply) => {
    seen = []
    answer = reply
    await expect(provider.create(order, 'v2')).rejects.toThrow(ProviderUnknown)
    expect(seen).toHaveLength(1)
  })
})

test.each([
  ['disb-aaaaaaaa-0000-4000-8000-0000000000d1', 'id'],
  ['po-aaaaaaaa-0000-4000-8000-0000000000d1', 'payout_id'],
])('a response about another payout than %s is no finding', async (asked, field) => {
  answer = () => Response.json({ ...payout, [field]: 'another' })
  await expect(provider.find(asked)).rejects.toThrow(ProviderUnknown)
  answer = () => Response.json({ ...payout, [field]: undefined })
  expect(await provider.find(asked)).toMatchObject({ payoutId: asked })
})

describe('payouts of the API v3', () => {
  const bodyV3 = {
    payout_id: 'po-aaaaaaaa-0000-4000-8000-0000000000d1',
    reference_id: id,
    type: 'B2C',
    status: 'ACCEPTED',
    source_amount: 250_000,
    source_currency: 'IDR',
    destination_amount: 250_000,
    destination_currency: 'IDR',
    business_id: 'b',
  }
  const seenV3 = { ...evidence, payoutId: bodyV3.payout_id }

  test('are ordered in minor units, under their own header, to the bank by its SWIFT code', async () => {
    seen = []
    answer = () => Response.json(bodyV3)
    expect(await provider.create(order, 'v3')).toEqual({ ok: seenV3 })
    const [call] = seen
    expect(call).toMatchObject({ path: '/v3/payouts', key: id, version: '2025-09-09' })
    expect(JSON.parse(call!.body)).toMatchObject({
      reference_id: id,
      recipient: {
        account_details: {
          account_number: '1234567890',
          account_holder_name: 'Sari Dewi',
          currency: 'IDR',
          routing_type_1: 'SWIFT',
          routing_value_1: 'CENAIDJA',
        },
      },
      payout_details: { destination_amount: 250_000, destination_currency: 'IDR' },
    })
  })

  test.each([
    ['as documented', {}, seenV3],
    ['with numbers as text', { destination_amount: '250000' }, seenV3],
    ['without what arrives', { destination_amount: null, destination_currency: null }, seenV3],
    [
      'with a fraction, which is no smallest unit',
      { destination_amount: 2_500.5 },
      { ...seenV3, amountMinor: undefined },
    ],
    [
      'refused by compliance',
      { status: 'REJECTED', failure_code: 'SLS_RECIPIENT' },
      {
        ...seenV3,
        word: 'REJECTED',
        status: 'refused' as const,
        failureCode: 'SLS_RECIPIENT',
        reason: 'compliance' as const,
      },
    ],
    ['with an unknown status', { status: 'NEW_WORD' }, { ...seenV3, word: 'NEW_WORD', status: 'unknown' as const }],
    ['still looked into', { status: 'PENDING_COMPLIANCE_REVIEW' }, { ...seenV3, word: 'PENDING_COMPLIANCE_REVIEW' }],
  ] as const)('are read %s', async (_, change, expected) => {
    seen = []
    answer = () => Response.json({ ...bodyV3, ...change })
    expect(await provider.find(bodyV3.payout_id)).toEqual(expected as never)
    expect(seen[0]).toMatchObject({
      path: `/v3/payouts/${bodyV3.payout_id}`,
      version: '2025-09-09',
    })
  })
})

describe('a look-up of a payout', () => {
  test.each([
    ['as observed', { has_more: false, data: [payout, { ...payout, reference_id: 'x' }] }],
    ['as documented', [payout]],
  ])('by reference reads the list %s, and only payouts with that reference', async (_, body) => {
    seen = []
    answer = () => Response.json(body)
    expect(await provider.findByReference(id, 'v2')).toEqual([evidence])
    expect(seen[0]!.path).toBe(`/v2/payouts?reference_id=${id}&limit=10`)
  })
  test('without a match finds nothing', async () => {
    answer = () => Response.json({ error_code: 'DATA_NOT_FOUND', message: '' }, { status: 404 })
    expect(await provider.find('disb-1')).toBeUndefined()
  })
  test('with an unknown error code under 404 fails without a finding', async () => {
    answer = () => Response.json({ error_code: 'ROUTE_MOVED', message: '' }, { status: 404 })
    await expect(provider.find('disb-1')).rejects.toThrow('404 ROUTE_MOVED')
  })
  test('that is refused fails without a finding', async () => {
    answer = () => Response.json({ error_code: 'INVALID_API_KEY', message: '' }, { status: 401 })
    await expect(provider.find('disb-1')).rejects.toThrow('401 INVALID_API_KEY')
    await expect(provider.findByReference(id, 'v2')).rejects.toThrow('401 INVALID_API_KEY')
  })
})

test('the list of banks omits wallets, other currencies and unreadable rows', async () => {
  const limits = { minimum: 10_000, maximum: 1_999_999_999_999, minimum_increment: 1 }
  const bsi = {
    channel_code: 'ID_BSI',
    channel_category: 'BANK',
    currency: 'IDR',
    channel_name: 'Bank Syariah Indonesia',
    amount_limits: limits,
  }
  answer = () =>
    Response.json([
      bsi,
      { ...bsi, channel_category: 'EWALLET' },
      { ...bsi, currency: 'PHP' },
      { ...bsi, amount_limits: { ...limits, minimum: '10000' } },
      { ...bsi, amount_limits: { ...limits, minimum_increment: 0 } },
      null,
    ])
  expect(await provider.listChannels()).toEqual([
    {
      code: 'ID_BSI',
      minMinor: 10_000n,
      maxMinor: 1_999_999_999_999n,
      incrementMinor: 1n,
      name: 'Bank Syariah Indonesia',
      accountDigits: [6, 20],
    },
  ])
})

test('the client compares an amount of the provider exactly, never as a float', () => {
  const bare = { reference_id: id, status: 'SUCCEEDED', currency: 'IDR' }
  const amountOf = (decimal: string) => evidenceFrom({ ...bare, amount: { decimal } }, 'disb-1').amountMinor
  expect(amountOf('81250')).toBe(81_250n)
  expect(amountOf('81250.00')).toBe(81_250n)
  expect(amountOf('81250.01')).toBeUndefined()
  expect(amountOf('8.125e4')).toBeUndefined()
})
