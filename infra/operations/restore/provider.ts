import { type Static, Type } from 'typebox'
import { openLog } from '#platform/log'
import { type ProviderAccount, providerAccounts } from '#shared/money/pair'
import { ProviderNumber } from '#shared/provider/amount'
import { openProviderClient, type ProviderAnswer, type ProviderClient } from '#shared/provider/client'
import { arrivingOf, payoutStatusFrom, payoutsV3Version } from '#shared/provider/payout'
import { type Listed, listAllTransactions } from '#shared/provider/transactions'
import type { payoutApisOf } from '../../../services/payouts/config'

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
const PayoutV3 = Type.Object({
  payout_id: Type.String(),
  reference_id: Type.String(),
  destination_amount: maybe(ProviderNumber),
  destination_currency: maybe(Type.String()),
  source_amount: maybe(ProviderNumber),
  source_currency: maybe(Type.String()),
  status: Type.String(),
  created: maybe(Type.String()),
})
/** Status of a payout that a bank has paid, and not returned since. */
export const paidStatus = 'SUCCEEDED'
/** Returns true if the money of a payout is with us again. In any other status it may have reached the bank. */
export const isBack = (status: string): boolean => ['refused', 'reversed'].includes(payoutStatusFrom(status))

const pageOf = <T extends Type.TSchema>(schema: T) =>
  Type.Object({ has_more: Type.Boolean(), data: Type.Array(schema) })
const [PageV2, PageV3] = [pageOf(Payout), pageOf(PayoutV3)]

/** Payout of either version. Those of v3 name no channel, and have no metadata of ours. */
export type FoundPayout = Omit<Static<typeof Payout>, 'channel_code' | 'created'> & {
  channel_code?: string
  created?: string | null | undefined
}

function fromV3({ payout_id: id, reference_id, status, created, ...words }: Static<typeof PayoutV3>): FoundPayout {
  const [amount, currency] = arrivingOf(words)
  if (!amount || !currency) throw new Error(`payout ${id} has no amount`)
  return { id, reference_id, status, created, amount, currency, metadata: null }
}

export type ProviderPlace = {
  url: string
  keys: Readonly<Record<ProviderAccount, string>>
  requestsPerMinute: number
  /** Versions in which payouts are looked up. Both, unless the account refuses one that it never used. */
  payoutApis?: PayoutApis
}
export type ListedMoney = Listed & { readonly account: ProviderAccount }
export type PayoutApi = PayoutApis[number]
type PayoutApis = ReturnType<typeof payoutApisOf>
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
export function openProvider({ payoutApis = ['v2', 'v3'], ...place }: ProviderPlace) {
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
    /**
     * Returns the payouts of a cash-out, of every version, or of the one in which it was ordered. Throws if the provider refuses,
     * or if it may have more than it lists.
     */
    payoutsOf: async (id: string, ordered?: PayoutApi | null): Promise<FoundPayout[]> => {
      const apis = ordered ? [ordered] : payoutApis
      return (await Promise.all(apis.map((api) => listed[api](clients.ID, id)))).flat()
    },
  }
}

const listed = { v2: listV2, v3: listV3 }

const byReference = (id: string) => new URLSearchParams({ reference_id: id, limit: '10' })

async function listV2(client: ProviderClient, id: string): Promise<FoundPayout[]> {
  const page = await client.get(`/v2/payouts?${byReference(id)}`, { schema: PageV2 })
  return allOf(id, page)
}

async function listV3(client: ProviderClient, id: string): Promise<FoundPayout[]> {
  const page = await client.get(`/v3/payouts?${byReference(id)}`, { schema: PageV3, apiVersion: payoutsV3Version })
  return allOf(id, page).map(fromV3)
}

type Page<T> = { has_more: boolean; data: T[] }

function allOf<T extends { reference_id: string }>(id: string, answer: ProviderAnswer<Page<T>>): T[] {
  if ('refused' in answer)
    throw new Error(
      `${refusal(answer).message}; if the account never used a version of payouts, see PROVIDER_PAYOUTS_API`,
    )
  const { has_more: hasMore, data } = answer.ok
  // guard: a restore takes no incomplete list of payouts for proof that a bank was not paid
  if (hasMore || data.some(({ reference_id }) => reference_id !== id))
    throw new Error(`the provider lists only some payouts of ${id}, or others`)
  return data
}

const refusal = ({ refused }: Extract<ProviderAnswer<unknown>, { refused: unknown }>) =>
  new Error(`the provider refused the request: ${refused.status} ${refused.code}`)

function found<T>(answer: ProviderAnswer<T>): T | undefined {
  if ('ok' in answer) return answer.ok
  if (answer.refused.meaning === 'not_found') return undefined
  throw refusal(answer)
}
