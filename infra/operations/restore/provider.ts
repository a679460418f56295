import { Type } from 'typebox'
import { openLog } from '#platform/log'
import { type ProviderAccount, providerAccounts } from '#shared/money/pair'
import { ProviderNumber } from '#shared/provider/amount'
import { openProviderClient, type ProviderAnswer } from '#shared/provider/client'
import { type Listed, listAllTransactions } from '#shared/provider/transactions'

const maybe = <T extends Type.TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]))
const Words = maybe(Type.Record(Type.String(), Type.Unknown()))

const Session = Type.Object({
  payment_session_id: Type.String(),
  reference_id: Type.String(),
  amount: ProviderNumber,
  currency: Type.String(),
  payment_link_url: maybe(Type.String()),
  expires_at: maybe(Type.String()),
  created: maybe(Type.String()),
  metadata: Words,
})
const Payment = Type.Object({
  payment_id: Type.String(),
  payment_request_id: maybe(Type.String()),
  channel_code: Type.String(),
  captures: maybe(Type.Array(Type.Object({ capture_timestamp: maybe(Type.String()) }))),
  created: maybe(Type.String()),
})
const Payout = Type.Object({
  id: Type.String(),
  reference_id: Type.String(),
  amount: ProviderNumber,
  currency: Type.String(),
  status: Type.String(),
  channel_code: Type.String(),
  created: Type.String(),
  metadata: Words,
})
/** Status of a payout that a bank has paid, and not returned since. */
export const paidStatus = 'SUCCEEDED'
const Payouts = Type.Object({ has_more: Type.Boolean(), data: Type.Array(Payout) })

export type ProviderPlace = {
  url: string
  keys: Readonly<Record<ProviderAccount, string>>
  requestsPerMinute: number
}
export type ListedMoney = Listed & { readonly account: ProviderAccount }
export type Provider = ReturnType<typeof openProvider>

const apiVersion = '2024-11-11'

/** Maximum difference of the provider's clock and ours, in ms. */
export const clockMs = 2 * 3_600_000

export const openAccount = ({ url: baseUrl, keys, requestsPerMinute }: ProviderPlace, account: ProviderAccount) =>
  openProviderClient({
    baseUrl,
    secretKey: keys[account],
    account,
    requestsPerMinute,
    log: openLog('operator', 'silent'),
  })

/** Opens a client of the provider that only reads. */
export function openProvider(place: ProviderPlace) {
  const clients = { ID: openAccount(place, 'ID'), MY: openAccount(place, 'MY') }
  return {
    /** Returns the rows of the list. Throws if the list is incomplete. */
    list: async (types: ('payment' | 'payout')[], since: Date): Promise<ListedMoney[]> => {
      const order = { types, updatedFrom: new Date(since.getTime() - clockMs) }
      const lists = providerAccounts.map(async (account) =>
        (await listAllTransactions(clients[account], order)).map((row) => ({ ...row, account })),
      )
      return (await Promise.all(lists)).flat()
    },
    checkout: async (account: ProviderAccount, id: string) =>
      found(await clients[account].get(`/sessions/${id}`, { schema: Session })),
    payment: async (account: ProviderAccount, id: string) =>
      found(await clients[account].get(`/v3/payments/${id}`, { schema: Payment, apiVersion })),
    /** Returns the payouts of a cash-out. Throws if the provider refuses. */
    payoutsOf: async (id: string) => {
      const query = new URLSearchParams({ reference_id: id, limit: '10' })
      const answer = await clients.ID.get(`/v2/payouts?${query}`, { schema: Payouts })
      if ('refused' in answer) throw refusal(answer)
      return answer.ok.data.filter(({ reference_id }) => reference_id === id)
    },
  }
}

const refusal = ({ refused }: Extract<ProviderAnswer<unknown>, { refused: unknown }>) =>
  new Error(`the provider refused the request: ${refused.status} ${refused.code}`)

function found<T>(answer: ProviderAnswer<T>): T | undefined {
  if ('ok' in answer) return answer.ok
  if (answer.refused.meaning === 'not_found') return undefined
  throw refusal(answer)
}
