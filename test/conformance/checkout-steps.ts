import { Type } from 'typebox'
import type { ProviderAccount } from '#shared/money/pair'
import type { ProviderClient } from '#shared/provider/client'
import type { CheckoutOrder, PaymentProvider } from '../../services/payments/provider'
import { WireSession } from '../../services/payments/providers/xendit/wire'
import { type PaymentBench, providerOf } from './payment-bench'
import { faultOf, left, NotHere, type Step } from './step'

const minuteMs = 60_000
/** Amounts whose smallest unit a float would lose: RM 12.34, Rp 150,001. */
const fiats = {
  ID: { currency: 'IDR', minor: 150_001n },
  MY: { currency: 'MYR', minor: 1_234n },
} as const

/** Returns an order of a checkout that lasts 15 minutes. */
export const orderOf = (account: keyof typeof fiats, over: Partial<CheckoutOrder> = {}): CheckoutOrder => ({
  account,
  reference: crypto.randomUUID(),
  fiat: fiats[account],
  description: 'Conformance',
  cardsOnly: false,
  lifeMs: 15 * minuteMs,
  promised: {
    kind: 'topup',
    wallet: `0x${'0'.repeat(40)}`,
    rate: '1',
    ausd: '1',
    quote_id: crypto.randomUUID(),
    request_fingerprint: 'A'.repeat(43),
  },
  ...over,
})

export const checkoutSteps = (bench: PaymentBench): Step[] => [...lifeSteps(bench), ...refusalSteps(bench)]

function lifeSteps({ account, client, neighbour }: PaymentBench): Step[] {
  const provider = providerOf(client)
  const order = orderOf(account)
  let checkoutId: string | undefined
  return [
    {
      name: 'a checkout is opened with our reference and duration',
      expected: 'open, our reference, a link, 15 minutes',
      see: async () => {
        const opened = await provider.openCheckout(order)
        if (!opened) return 'refused'
        checkoutId = opened.checkoutId
        const lastsMs = (opened.expiresAt?.getTime() ?? 0) - Date.now() - order.lifeMs
        return [
          opened.status,
          opened.reference === order.reference ? 'our reference' : 'another reference',
          opened.checkoutUrl ? 'a link' : 'no link',
          Math.abs(lastsMs) < minuteMs ? '15 minutes' : `${lastsMs} ms more than asked`,
        ].join(', ')
      },
    },
    {
      name: 'it is found by its id',
      expected: 'open, our reference, nothing paid',
      see: async () => {
        const found = await provider.findCheckout(account, left(checkoutId, 'checkout'))
        const reference = found?.reference === order.reference ? 'our reference' : 'another one'
        const paid = found?.paymentId === null ? 'nothing paid' : 'paid'
        return [found?.status, reference, paid].join(', ')
      },
    },
    {
      name: 'it keeps our metadata, so that a lost row can be restored',
      expected: 'unchanged',
      see: () => keptBy(client, `/sessions/${left(checkoutId, 'checkout')}`, order.promised),
    },
    {
      name: 'the key of the other country does not see it',
      expected: 'not found',
      see: async () => {
        if (!neighbour) throw new NotHere('needs the keys of both accounts')
        const seen = await providerOf(neighbour).findCheckout(account, left(checkoutId, 'checkout'))
        return seen ? 'found' : 'not found'
      },
    },
    cardsStep(account, provider),
    {
      name: 'a cancelled checkout is closed',
      expected: 'cancelled',
      see: async () => {
        await provider.cancelCheckout(account, left(checkoutId, 'checkout'))
        return (await provider.findCheckout(account, left(checkoutId, 'checkout')))?.status ?? 'gone'
      },
    },
    {
      name: 'a closed checkout cannot be cancelled',
      expected: '422 INVALID_SESSION_STATUS: state_wrong',
      see: () => outcomeOf(client, `/sessions/${left(checkoutId, 'checkout')}/cancel`),
    },
  ]
}

export async function keptBy(
  client: ProviderClient,
  path: string,
  given: Readonly<Record<string, string>>,
): Promise<string> {
  const schema = Type.Object({ metadata: Type.Record(Type.String(), Type.String()) })
  const answer = await client.get(path, { schema })
  if ('refused' in answer) return `refused: ${answer.refused.code}`
  return Bun.deepEquals(answer.ok.metadata, given) ? 'unchanged' : 'changed'
}

const cardsStep = (account: ProviderAccount, provider: PaymentProvider): Step => ({
  name: 'a checkout for cards only is opened',
  expected: 'open',
  see: async () => {
    const opened = await provider.openCheckout(orderOf(account, { cardsOnly: true }))
    if (opened) await provider.cancelCheckout(account, opened.checkoutId)
    return opened?.status ?? 'refused'
  },
})

export async function outcomeOf(client: ProviderClient, path: string, body?: object): Promise<string> {
  const answer = await client.post(path, { schema: WireSession, body })
  if ('ok' in answer) return 'accepted'
  return `${answer.refused.status} ${answer.refused.code}: ${answer.refused.meaning}`
}

function refusalSteps({ account, client }: PaymentBench): Step[] {
  const provider = providerOf(client)
  const open = (over: object) =>
    outcomeOf(client, '/sessions', {
      reference_id: crypto.randomUUID(),
      session_type: 'PAY',
      mode: 'PAYMENT_LINK',
      country: account,
      currency: fiats[account].currency,
      amount: 20_000,
      ...over,
    })
  return [
    {
      name: 'a checkout that would expire too soon is refused',
      expected: '400 INVALID_EXPIRY_DATE: request_wrong',
      see: () => open({ expires_at: new Date(Date.now() + minuteMs).toISOString() }),
    },
    {
      name: 'the service treats that refusal as no checkout',
      expected: 'no checkout',
      see: async () => {
        const soon = orderOf(account, { lifeMs: minuteMs })
        return (await provider.openCheckout(soon)) ? 'opened' : 'no checkout'
      },
    },
    {
      name: 'a channel that does not exist is refused',
      expected: '400 INVALID_PAYMENT_CHANNEL: channel_unavailable',
      see: () => open({ allowed_payment_channels: ['NO_SUCH_CHANNEL'] }),
    },
    {
      name: 'a return URL without https is refused',
      expected: '400 INVALID_URL: request_wrong',
      see: () => open({ success_return_url: 'http://app.example.org/' }),
    },
    {
      name: 'an amount of 0 is refused',
      expected: 'refused',
      see: async () => ((await open({ amount: 0 })) === 'accepted' ? 'ok' : 'refused'),
    },
    {
      name: 'cancelling an unknown checkout has no effect',
      expected: 'no fault',
      see: () => faultOf(provider.cancelCheckout(account, `ps-${'0'.repeat(24)}`)),
    },
  ]
}
