import type { ProviderClient } from '#shared/provider/client'
import type { PayoutApi, PayoutChannel, PayoutOrder } from '../../services/payouts/provider'
import { xenditPayouts } from '../../services/payouts/providers/xendit/client'
import { keptBy } from './checkout-steps'
import { until } from './payment-bench'
import { faultOf, left, type Step, type Waiting } from './step'
import { listedPayoutStep } from './transaction-steps'

export type PayoutBench = {
  readonly api: PayoutApi
  readonly client: ProviderClient
  readonly wrongKey: ProviderClient
  /** Times of the waits. Test mode takes 90 s to succeed, and up to five minutes to fail or reverse. */
  readonly waiting: Waiting
}

/** Outcomes per account number, from the provider's page of payout test scenarios. */
const outcomes = [
  ['1234567890', 'succeeded'],
  ['123456', 'refused TEMPORARY_TRANSFER_ERROR'],
  ['999999', 'refused REJECTED_BY_CHANNEL'],
  ['121212', 'refused INVALID_DESTINATION'],
  ['98018521', 'refused TRANSFER_ERROR'],
  ['654321', 'reversed'],
] as const
const staysPending = '131313'

const orderTo = (accountNumber: string, over: Partial<PayoutOrder> = {}): PayoutOrder => ({
  id: crypto.randomUUID(),
  fiatMinor: 250_001n,
  channelCode: 'ID_BCA',
  accountNumber,
  accountHolderName: 'Sari Dewi',
  promised: {
    wallet: `0x${'0'.repeat(40)}`,
    rate: '1',
    ausd: '1',
    quote_id: crypto.randomUUID(),
    request_fingerprint: `cashout:${'A'.repeat(43)}`,
    authorization_nonce: `0x${'0'.repeat(64)}`,
  },
  ...over,
})

/** Returns the steps. Slow payouts are ordered first and checked last. */
export function payoutSteps(bench: PayoutBench): Step[] {
  const { api } = bench
  const provider = xenditPayouts(bench.client, [api])
  const orders = outcomes.map(([accountNumber]) => orderTo(accountNumber))
  const pending = orderTo(staysPending)
  const ids = new Map<string, string>()
  const order = async (asked: PayoutOrder) => {
    const answer = await provider.create(asked, api)
    if ('refused' in answer) return `refused: ${answer.refused.meaning}`
    const { status, amountMinor, currency, referenceId, payoutId } = answer.ok
    const known = ids.get(asked.id)
    ids.set(asked.id, known ?? payoutId)
    const which = known === undefined ? 'new' : known === payoutId ? 'the same' : 'another'
    const whose = referenceId === asked.id ? 'our reference' : 'another reference'
    return `${which}, ${status}, ${amountMinor} ${currency}, ${whose}`
  }
  const all = [...orders, pending]
  /** Step about metadata, which v3 does not document. */
  const keptStep: Step = {
    name: 'it keeps our metadata, so that a lost row can be restored',
    expected: 'unchanged',
    see: () => keptBy(bench.client, `/v2/payouts/${left(ids.get(pending.id), 'payout')}`, pending.promised),
  }
  const ofV3 = api === 'v3' ? ({ fact: 'payouts-v3' } as const) : {}
  return [
    ...channelSteps(bench),
    {
      name: 'payouts to every magic account are accepted',
      ...ofV3,
      expected: 'new, pending, 250001 IDR, our reference',
      see: async () => {
        const seen = new Set<string>()
        for (const each of all) seen.add(await order(each))
        return [...seen].join('; ')
      },
    },
    {
      name: 'the same key with the same body is the same payout',
      expected: 'the same, pending, 250001 IDR, our reference',
      see: () => order(pending),
    },
    {
      name: 'the same key with another body is a conflict',
      expected: 'refused: conflict',
      see: () => order({ ...pending, fiatMinor: pending.fiatMinor + 1n }),
    },
    {
      name: 'it is found by our reference, once',
      ...ofV3,
      expected: '1, the same id',
      see: async () => {
        const found = await provider.findByReference(pending.id, api)
        const same = found[0]?.payoutId === ids.get(pending.id)
        return `${found.length}, ${same ? 'the same id' : 'another id'}`
      },
    },
    ...(api === 'v2' ? [keptStep] : []),
    ...orders.map((each, index) => outcomeStep(bench, each, outcomes[index]!, ids)),
    {
      name: 'repeating a paid order returns its current status and pays nothing',
      expected: 'the same, succeeded, 250001 IDR, our reference',
      see: () => order(orders[0]!),
    },
    {
      name: 'an account of Bank Rakyat Indonesia with 14 digits is paid, with its zero',
      fact: 'account-zero',
      expected: 'succeeded',
      see: async () => {
        const made = orderTo('12345678901234', { channelCode: 'ID_BRI' })
        const answer = await provider.create(made, api)
        if ('refused' in answer) return `refused: ${answer.refused.meaning}`
        const read = () => provider.find(answer.ok.payoutId)
        return (await until(bench.waiting, read, (seen) => seen?.status === 'succeeded'))?.status ?? 'gone'
      },
    },
    {
      name: `account ${staysPending} is still waiting`,
      expected: 'pending',
      see: async () => (await provider.find(left(ids.get(pending.id), 'payout')))?.status ?? 'gone',
    },
    listedPayoutStep(bench, () => {
      const endings = [...outcomes.map(([, outcome]) => outcome), 'pending'] as const
      const rows = all.map(({ id, fiatMinor }, index) => {
        const [ending = ''] = endings[index]!.split(' ')
        const status = ending === 'refused' ? 'failed' : ending
        return [left(ids.get(id), 'payout'), `${status} ${fiatMinor} IDR ${id}`] as const
      })
      return new Map(rows)
    }),
  ]
}

const outcomeStep = (
  { client, waiting }: PayoutBench,
  order: PayoutOrder,
  [accountNumber, outcome]: (typeof outcomes)[number],
  ids: ReadonlyMap<string, string>,
): Step => ({
  name: `account ${accountNumber} ends as documented`,
  expected: outcome,
  see: async () => {
    const provider = xenditPayouts(client)
    const payoutId = left(ids.get(order.id), 'payout')
    const read = async () => {
      const seen = await provider.find(payoutId)
      return [seen?.status ?? 'gone', seen?.failureCode].filter(Boolean).join(' ')
    }
    return until(waiting, read, (seen) => seen === outcome)
  },
})

function channelSteps({ api, client, wrongKey }: PayoutBench): Step[] {
  const provider = xenditPayouts(client, [api])
  const prefix = api === 'v3' ? 'po-' : 'disb-'
  let channels: readonly PayoutChannel[] | undefined
  const refusal = async (order: PayoutOrder, by: ProviderClient = client) => {
    const answer = await xenditPayouts(by, [api]).create(order, api)
    return 'ok' in answer ? 'accepted' : answer.refused.meaning
  }
  return [
    {
      name: 'the list of banks has BCA, and limits in whole rupiah',
      expected: 'BCA, every limit usable',
      see: async () => {
        channels = await provider.listChannels()
        const bca = channels.some(({ code }) => code === 'ID_BCA') ? 'BCA' : 'no BCA'
        const sane = channels.every((c) => c.minMinor <= c.maxMinor && c.incrementMinor > 0n)
        return `${bca}, ${sane ? 'every limit usable' : 'unusable limits'}`
      },
    },
    {
      name: "an amount below a bank's minimum is refused",
      expected: 'amount_outside_limits',
      see: async () => {
        const picky = left(channels, 'banks').find(({ minMinor }) => minMinor > 1n)
        const { code: channelCode, minMinor } = left(picky, 'bank with a minimum amount')
        return refusal(orderTo('1234567890', { channelCode, fiatMinor: minMinor - 1n }))
      },
    },
    {
      name: 'a bank that does not exist is refused',
      // v3 has no bank codes: without a bank address the body is incomplete.
      expected: api === 'v3' ? 'request_wrong' : 'channel_unavailable',
      see: () => refusal(orderTo('1234567890', { channelCode: 'ID_NO_SUCH_BANK' })),
    },
    {
      name: 'a wrong key is reported as a configuration error',
      expected: 'account_misconfigured',
      see: () => refusal(orderTo('1234567890'), wrongKey),
    },
    {
      name: 'with a wrong key nothing counts as not found',
      expected: 'ProviderUnknown',
      see: () => faultOf(xenditPayouts(wrongKey).find(`${prefix}0`)),
    },
    {
      name: 'an unknown payout is not found',
      expected: 'undefined',
      see: async () => String(await provider.find(`${prefix}00000000-0000-4000-8000-000000000000`)),
    },
    {
      name: 'an unknown reference has no payouts',
      expected: '0',
      see: async () => String((await provider.findByReference(crypto.randomUUID(), api)).length),
    },
  ]
}
