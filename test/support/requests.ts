import type { Address } from 'viem'
import type { Person, Reply } from '#infra/demo/person'
import type { RunningStack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { okOf } from '#shared/client/client'

export const bank = {
  channelCode: 'ID_BCA',
  accountNumber: '1234567890',
  accountHolderName: 'Sari Dewi',
}

/** Accounts at the sandbox's bank: it refuses a transfer to the first, reverses one to the second, and never ends one to the third. */
export const [refusedAccount, reversedAccount, pendingAccount] = ['999999', '654321', '141414']

/** Accounts for which the provider refuses orders, always or often, once `refusals` are set. */
export const [blockedAccount, moodyAccount] = ['700001', '700002']
/** Bodies of the sandbox's control `accounts`. */
export const refusals = [
  { channel_code: bank.channelCode, account_number: blockedAccount, refuses: 1 },
  { channel_code: bank.channelCode, account_number: moodyAccount, refuses: 0.6 },
] as const

export async function cashoutBody(
  stack: RunningStack,
  person: Person,
  terms: { ausdMicro?: bigint; accountNumber?: string } = {},
) {
  const quote = await person.quote('USD/IDR')
  const authorization = await person.sign({
    to: stack.info.chain.treasury as Address,
    valueMicro: terms.ausdMicro ?? 5_000_000n,
  })
  const accountNumber = terms.accountNumber ?? accountOf(person)
  return { quoteId: quote.id, authorization, bank: { ...bank, accountNumber } }
}

/** Returns an account per user, because daily limits apply to accounts too. */
const accountOf = ({ wallet }: Person) => `9${String(BigInt(wallet) % 10n ** 9n).padStart(9, '0')}`

/** Longest wait in ms; the work of a killed process is redelivered within 20 s. */
const insistMs = 90_000

/** Repeats an identical request, as the app does. */
export async function insist(
  person: Person,
  path: string,
  body: unknown,
  { deadlineMs = insistMs, everyMs = 100 } = {},
): Promise<Reply['body']> {
  const ask = async () => {
    const reply = await person.post(path, body)
    if (reply.status !== 200) throw new Error(`${reply.status} ${JSON.stringify(reply.body)}`)
    return reply
  }
  return (await waitUntil(`an answer of ${path}`, ask, deadlineMs, everyMs)).body
}

/** Repeats a request after a 503, as the app does, except for the `meant` one. */
export const answered = <R extends { readonly status: number }>(
  ask: () => Promise<R>,
  { meant = () => false, deadlineMs }: { meant?: (reply: R) => boolean; deadlineMs?: number } = {},
): Promise<R> =>
  waitUntil(
    'an answer',
    async () => {
      const reply = await ask()
      return (reply.status !== 503 || meant(reply)) && reply
    },
    deadlineMs,
    100,
  )

/** Returns the activity entry once it has one of these states. */
export const entryIn = (person: Person, id: string, ...statuses: string[]) =>
  waitUntil(`${id} becoming ${statuses.join(' or ')}`, () => entryNow(person, id, ...statuses))

export async function entryNow(person: Person, id: string, ...statuses: string[]) {
  const { items } = okOf(await person.api.activity())
  const entry = items.find((item) => item.id === id)
  return entry && statuses.includes(entry.status) ? entry : undefined
}

export type Entry = { readonly id: string; readonly kind: string; readonly status: string }

export const statusOf = (person: Person, id: string): Promise<string | undefined> =>
  waitUntil('the activity', () => activityOf(person)).then(
    (entries) => entries.find((entry) => entry.id === id)?.status,
  )

export async function activityOf(person: Person): Promise<Entry[]> {
  const entries: Entry[] = []
  for (let cursor = ''; ; ) {
    const path = `/me/activity?limit=100${cursor && `&cursor=${cursor}`}`
    const { status, body } = await person.get(path)
    if (status !== 200) throw new Error(`/me/activity: status ${status}`)
    entries.push(...body.items)
    if (!body.nextCursor) return entries
    cursor = body.nextCursor
  }
}

export type Checkout = { paymentId: string; checkoutUrl: string; fiat: string; ausd: string }

type TopUp = { pair: 'USD/IDR' | 'USD/MYR'; amount: string; method: 'bank' | 'card' | 'qr' }

/** Opens a checkout, by default of Rp 50,000 by QR. */
export async function openCheckout(
  person: Person,
  { pair = 'USD/IDR', amount = '50000', method = 'qr' }: Partial<TopUp> = {},
): Promise<Checkout> {
  const quote = okOf(await person.api.quote(pair))
  return okOf(await person.api.topUp({ amount, method, quoteId: quote.id }))
}
