import { ProviderBusy } from '#shared/provider/problem'
import { WireSession } from '../../services/payments/providers/xendit/wire'
import { type PaymentBench, providerOf } from './payment-bench'
import { faultOf, NotHere, type Step } from './step'

const nobody = '00000000-0000-4000-8000-000000000000'
const noSession = `ps-${'0'.repeat(24)}`

export function lookupSteps(bench: PaymentBench): Step[] {
  const { account, client, wrongKey } = bench
  const provider = providerOf(client)
  const unknown = (what: string, find: () => Promise<unknown>): Step => ({
    name: `an unknown ${what} is not found`,
    expected: 'undefined',
    see: async () => ((await find()) === undefined ? 'undefined' : 'something'),
  })
  return [
    unknown('checkout', () => provider.findCheckout(account, noSession)),
    unknown('payment', () => provider.findCharge(account, `py-${nobody}`)),
    unknown('payment request', () => provider.findChargeOfRequest(account, `pr-${nobody}`)),
    unknown('refund', () => provider.findRefund(account, `rfd-${nobody}`)),
    {
      name: 'a malformed id is refused, not unknown',
      fact: 'ids-refused',
      expected: '400',
      see: async () => {
        const answer = await client.get(`/sessions/ps-${nobody}`, { schema: WireSession })
        return 'ok' in answer ? 'found' : String(answer.refused.status)
      },
    },
    {
      name: 'an unknown payment request has no refunds',
      expected: '0',
      see: async () => String((await provider.listRefunds(account, `pr-${nobody}`))?.length ?? 0),
    },
    {
      name: 'a wrong key is reported as a configuration error',
      expected: '401 INVALID_API_KEY: account_misconfigured',
      see: async () => {
        const answer = await wrongKey.get(`/sessions/${noSession}`, { schema: WireSession })
        if ('ok' in answer) return 'accepted'
        return `${answer.refused.status} ${answer.refused.code}: ${answer.refused.meaning}`
      },
    },
    {
      name: 'with a wrong key nothing counts as not found',
      expected: 'ProviderUnknown',
      see: () => faultOf(providerOf(wrongKey).findCheckout(account, noSession)),
    },
    ...paceSteps(bench),
  ]
}

/** Number of calls; test mode allows ten at once. */
const calls = 12

/** Number of clients, each of which has half of the call budget. */
const copies = 2

const paceSteps = ({ account, open, limit, forbidSender }: PaymentBench): Step[] => [
  {
    name: `${copies} instances of a service share the call budget`,
    fact: 'account-budget',
    expected: 'all answered, the last ones waited',
    see: async () => {
      const providers = Array.from({ length: copies }, () => providerOf(open(60 / copies)))
      const startedAt = Date.now()
      const all = providers.flatMap((provider) =>
        Array.from({ length: calls / copies }, () => provider.findCheckout(account, noSession)),
      )
      await Promise.all(all)
      const waited = Date.now() - startedAt > 1_000
      return `all answered, ${waited ? 'the last ones waited' : 'without waiting'}`
    },
  },
  {
    name: 'an address outside the allow-list is reported as a configuration error',
    fact: 'sender-ip',
    expected: 'UNAUTHORIZED_SENDER_IP: account_misconfigured',
    see: async () => {
      if (!forbidSender) throw new NotHere('needs an allow-list without this address')
      await forbidSender(true)
      const answer = await open(60).get(`/sessions/${noSession}`, { schema: WireSession })
      await forbidSender(false)
      return 'ok' in answer ? 'accepted' : `${answer.refused.code}: ${answer.refused.meaning}`
    },
  },
  {
    name: `${calls} calls at once keep to 60 a minute and are all answered`,
    expected: 'all answered, the last ones waited',
    see: async () => {
      const provider = providerOf(open(60))
      const startedAt = Date.now()
      const all = Array.from({ length: calls }, () => provider.findCheckout(account, noSession))
      await Promise.all(all)
      const waited = Date.now() - startedAt > (calls - 10) * 1_000
      return `all answered, ${waited ? 'the last ones waited' : 'without waiting'}`
    },
  },
  {
    fact: 'stray-429',
    name: 'a 429 with calls left is retried after about a second, not at the end of the window',
    expected: 'answered',
    see: async () => {
      if (!limit) throw new NotHere('a stray 429 cannot be provoked: look for one in the logs')
      const provider = providerOf(open(60))
      await limit('stray')
      const asking = provider.findCheckout(account, noSession).catch((error) => error)
      await Bun.sleep(200)
      await limit('none')
      const seen = await asking
      return seen === undefined ? 'answered' : String(seen)
    },
  },
  {
    name: 'a 429 with Rate-Limit-Reset is waited out or reported with its reset time',
    expected: 'busy, retry later, no call before',
    see: async () => {
      if (!limit) throw new NotHere("would use up the account's call budget")
      const provider = providerOf(open(60))
      await limit('all')
      const first = await provider.findCheckout(account, noSession).catch((error) => error)
      await limit('none')
      // No call may be sent within the window, although it would be answered by now.
      const second = await provider.findCheckout(account, noSession).catch((error) => error)
      if (!(first instanceof ProviderBusy)) return 'not busy'
      const later = first.retryAfterMs > 1_000 ? 'retry later' : 'retry at once'
      const again = second instanceof ProviderBusy ? 'no call before' : 'called again'
      return `busy, ${later}, ${again}`
    },
  },
]
