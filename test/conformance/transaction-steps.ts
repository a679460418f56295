import { Type } from 'typebox'
import { readBalance } from '#shared/provider/balance'
import type { ProviderClient } from '#shared/provider/client'
import { ProviderUnknown } from '#shared/provider/problem'
import { type Listed, type ListedType, lacksTransactionRead, listTransactions } from '#shared/provider/transactions'
import { WireRefunds } from '../../services/payments/providers/xendit/wire'
import { type PaymentBench, until } from './payment-bench'
import { faultOf, left, NotHere, type Step, type Waiting } from './step'

/** Allowed difference of clocks in ms; older rows are ignored. */
const windowMs = 600_000
/** Expected delay of the list at most, in ms. The services overlap their readings by far more. */
const latestMs = 60_000

/** Returns `confirmed` if the services' assumption holds. */
const confirm = (isAsAssumed: boolean, seen: string): string => (isAsAssumed ? 'confirmed' : `unconfirmed: ${seen}`)

const lately = (client: ProviderClient, type: ListedType): Promise<Listed[]> =>
  listTransactions(client, { types: [type], updatedFrom: new Date(Date.now() - windowMs) })

const Page = Type.Object({
  has_more: Type.Boolean(),
  data: Type.Array(Type.Object({ id: Type.String() })),
})
const pageOf = async (client: ProviderClient, query: string) => {
  const answer = await client.get(`/transactions?${query}`, { schema: Page })
  return 'ok' in answer ? answer.ok : `${answer.refused.status} ${answer.refused.code}`
}

/** Returns steps that need no payment. */
export const listSteps = ({ client, wrongKey }: PaymentBench): Step[] => [
  {
    name: 'the key has the permission Transaction Read',
    expected: 'confirmed',
    see: async () => {
      const refused = (error: unknown) => {
        if (lacksTransactionRead(error)) return String(error)
        throw error
      }
      const seen = await lately(client, 'payment').catch(refused)
      return confirm(typeof seen !== 'string', String(seen))
    },
  },
  {
    name: 'a page may have fifty rows',
    expected: 'confirmed',
    see: async () => {
      const page = await pageOf(client, 'limit=50')
      return confirm(typeof page !== 'string', String(page))
    },
  },
  {
    name: 'with a wrong key the list is unknown, not empty',
    expected: 'ProviderUnknown',
    see: () => faultOf(lately(wrongKey, 'payment')),
  },
  {
    name: 'the list of refunds exists, although the reference no longer has it',
    expected: 'confirmed',
    see: async () => {
      const path = '/refunds?payment_request_id=pr-00000000-0000-4000-8000-000000000000'
      const answer = await client.get(path, { schema: WireRefunds })
      if ('ok' in answer) return 'confirmed'
      return confirm(false, `${answer.refused.status} ${answer.refused.code}`)
    },
  },
]

/** Returns steps about the balance, which cash-outs and the start of the books need. */
export const balanceSteps = ({ client, wrongKey }: PaymentBench): Step[] => [
  {
    name: 'the key has the permission Balance Read and returns the balance',
    expected: 'confirmed',
    fact: 'balance',
    see: () => told(() => readBalance(client)),
  },
  {
    name: 'the balance of an hour ago is available',
    expected: 'confirmed',
    fact: 'balance',
    see: () => told(() => readBalance(client, { at: new Date(Date.now() - 3_600_000) })),
  },
  {
    name: 'with a wrong key the balance is unknown, not 0',
    expected: 'ProviderUnknown',
    see: () => faultOf(readBalance(wrongKey)),
  },
]

const told = (read: () => Promise<unknown>): Promise<string> =>
  read().then(
    () => 'confirmed',
    (error) => {
      if (error instanceof ProviderUnknown) return confirm(false, error.message)
      throw error
    },
  )

/** A payment of this run; `seenAt` is in Unix ms. */
export type PaidHere = {
  readonly checkoutId: string
  readonly paymentId: string
  readonly paymentRequestId: string
  readonly reference: string
  readonly seenAt: number
}

export function listedPaymentSteps({ client, waiting }: PaymentBench, channel: string, paid: () => PaidHere): Step[] {
  let row: Listed | undefined
  let lateMs: number | undefined
  return [
    {
      name: `the payment through ${channel} is in the list of transactions`,
      expected: 'confirmed',
      see: async () => {
        const { paymentId, seenAt } = paid()
        row = await rowOf(client, waiting, 'payment', paymentId)
        if (row) lateMs = Date.now() - seenAt
        const status = row?.status ?? 'not listed'
        return confirm(status === 'succeeded', status)
      },
    },
    {
      name: 'its row appeared within a minute',
      expected: 'confirmed',
      see: async () => {
        const ms = left(lateMs, 'row')
        return confirm(ms <= latestMs, `after ${Math.round(ms / 1_000)} s`)
      },
    },
    {
      name: 'its row names the payment request and the reference of the payment',
      expected: 'confirmed',
      see: async () => {
        const { paymentRequestId, reference } = left(row, 'row')
        const own = paymentRequestId === paid().paymentRequestId && isOurs(reference, paid())
        return confirm(own, `${paymentRequestId}, ${reference}`)
      },
    },
  ]
}

const isOurs = (reference: string | null, paid: PaidHere): boolean =>
  reference === paid.reference || reference?.startsWith(`${paid.reference}_`) === true

export function listedReturnSteps(bench: PaymentBench, paid: () => PaidHere, refundId: () => string): Step[] {
  const { client, waiting } = bench
  let refund: Listed | undefined
  return [
    {
      name: 'the refund is in the list under its own id',
      expected: 'confirmed',
      see: async () => {
        refund = await rowOf(client, waiting, 'refund', refundId())
        return confirm(refund !== undefined, await namesOf(client, 'refund'))
      },
    },
    {
      name: "a refund without a reference has the payment's",
      expected: 'confirmed',
      see: async () => {
        const { reference } = left(refund, 'row')
        return confirm(isOurs(reference, paid()), `${reference}`)
      },
    },
    ...chargebackSteps(bench, paid),
    {
      name: 'after_id returns the next row',
      expected: 'confirmed',
      see: async () => {
        const first = await pageOf(client, 'limit=1')
        if (typeof first === 'string') return confirm(false, first)
        if (!first.has_more) throw new NotHere('needs two rows in the list')
        const next = await pageOf(client, `limit=1&after_id=${first.data[0]?.id}`)
        if (typeof next === 'string') return confirm(false, next)
        const [before, after] = [first.data[0]?.id, next.data[0]?.id]
        return confirm(after !== undefined && after !== before, `${after} after ${before}`)
      },
    },
  ]
}

function chargebackSteps({ client, waiting, chargeback }: PaymentBench, paid: () => PaidHere) {
  let row: Listed | undefined
  const steps: Step[] = [
    {
      name: 'a chargeback is in the list under an id of its own',
      expected: 'confirmed',
      see: async () => {
        if (!chargeback) throw new NotHere('test mode makes no chargebacks: compare a live one')
        const productId = await chargeback(paid().paymentId)
        row = await rowOf(client, waiting, 'chargeback', productId)
        return confirm(row !== undefined, await namesOf(client, 'chargeback'))
      },
    },
    {
      name: 'it has the reference of its payment there',
      expected: 'confirmed',
      see: async () => {
        const { reference } = left(row, 'chargeback')
        return confirm(isOurs(reference, paid()), `${reference}`)
      },
    },
  ]
  return steps
}

/** Returns the step about listed payouts, all of which must have ended; `expected` is by the provider's id. */
export const listedPayoutStep = (
  { client, waiting }: { client: ProviderClient; waiting: Waiting },
  expected: () => ReadonlyMap<string, string>,
): Step => ({
  name: 'every payout is in the list, under its own id and our reference, as it ended',
  expected: 'confirmed',
  see: async () => {
    const read = async () => {
      const rows = await lately(client, 'payout')
      return [...expected()].filter(
        ([payoutId, ended]) => !rows.some((row) => row.productId === payoutId && wordsOf(row) === ended),
      )
    }
    const missing = await until(waiting, read, (others) => others.length === 0)
    return confirm(missing.length === 0, `not as expected: ${missing.join('; ')}`)
  },
})

const wordsOf = ({ status, reference, amountMinor, currency }: Listed): string =>
  `${status} ${amountMinor} ${currency} ${reference}`

async function rowOf(
  client: ProviderClient,
  waiting: Waiting,
  type: ListedType,
  productId: string,
): Promise<Listed | undefined> {
  const read = async () => (await lately(client, type)).find((row) => row.productId === productId)
  return until(waiting, read, (row) => row !== undefined)
}

async function namesOf(client: ProviderClient, type: ListedType): Promise<string> {
  const rows = await lately(client, type)
  const names = rows.slice(0, 3).map(({ productId, reference }) => `${productId} ${reference}`)
  return names.length === 0 ? `no ${type} is listed` : names.join('; ')
}
