import { currencyOf } from '../account'
import { type Bank, banks } from '../channels/bank'
import { refusalOf } from '../channels/holder'
import type { Context } from '../context'
import { majorFromMinor } from '../money'
import type { Payout } from '../records'
import type { HttpAnswer, ProviderCall, ProviderEndpoint } from './endpoint'
import { movePayout, openPayout, payoutBody } from './payout'
import { canonical, payoutFromRequest } from './payout-request'
import { Problem } from './problem'

const pageDefault = 10
const pageMax = 100

export const payoutEndpoints: readonly ProviderEndpoint[] = [
  { method: 'POST', path: '/v2/payouts', run: create },
  { method: 'GET', path: '/v2/payouts', run: list },
  {
    method: 'GET',
    path: '/v2/payouts/:id',
    run: (context, call) => ({ body: payoutBody(ownPayout(context, call)) }),
  },
  { method: 'POST', path: '/v2/payouts/:id/cancel', run: cancel },
  { method: 'GET', path: '/payouts_channels', run: listBanks },
]

// Creates a payout. As observed, a repeat returns the payout's current state, even if the keys of its body are
// reordered.
function create(context: Context, { account, headers, body }: ProviderCall): HttpAnswer {
  if (account !== 'ID') {
    throw new Problem('REQUEST_FORBIDDEN_ERROR', 'This API key cannot create payouts')
  }
  const key = headers.get('idempotency-key') ?? ''
  if (key.length < 1 || key.length > 100) {
    const detail = { path: '/headers/idempotency-key', message: 'must have 1 to 100 characters' }
    throw new Problem('API_VALIDATION_ERROR', 'request/headers Idempotency-key is required', [detail])
  }
  const known = context.book.find(
    'payouts',
    (p) => p.account === account && p.version === undefined && p.idempotencyKey === key,
  )
  if (known) return replay(context, known, canonical(body))
  const asked = payoutFromRequest(context, account, key, body)
  refuseClosed(context, asked)
  return { body: payoutBody(openPayout(context, asked)) }
}

export function refuseClosed(context: Context, { channelCode, accountNumber }: Payout): void {
  const { chance, faults } = context
  if (chance.hits(faults.api.closedChannels) || chance.hits(refusalOf(context, channelCode, accountNumber)))
    throw new Problem('CHANNEL_CODE_NOT_SUPPORTED', 'The channel code is not supported')
}

function replay(context: Context, known: Payout, asked: string): HttpAnswer {
  if (known.canonicalBody !== asked) {
    const message =
      'A payout with this idempotency key already exists. If you meant to execute a different ' +
      'request, please use another idempotency key.'
    throw new Problem('DUPLICATE_ERROR', message)
  }
  const replayed = context.book.save('payouts', { ...known, replays: known.replays + 1 })
  return { body: payoutBody(replayed) }
}

function list({ book }: Context, { account, query }: ProviderCall): HttpAnswer {
  const referenceId = query.get('reference_id')
  if (!referenceId) throw new Problem('API_VALIDATION_ERROR', 'reference_id is required')
  const asked = Number(query.get('limit') ?? pageDefault)
  const limit = Number.isInteger(asked) && asked >= 1 ? Math.min(asked, pageMax) : pageDefault
  const matches = book
    .all('payouts')
    .filter((payout) => payout.account === account && payout.version === undefined)
    .filter((payout) => payout.referenceId === referenceId)
    .reverse()
  const after = matches.findIndex(({ id }) => id === query.get('after_id')) + 1
  const data = matches.slice(after, after + limit).map(payoutBody)
  return { body: { has_more: matches.length > after + limit, data } }
}

function cancel(context: Context, call: ProviderCall): HttpAnswer {
  const payout = ownPayout(context, call)
  if (payout.status !== 'ACCEPTED') {
    const message = `Payout is ${payout.status} and cannot be cancelled`
    throw new Problem('CANCELLATION_NOT_ALLOWED', message)
  }
  return { body: payoutBody(movePayout(context, payout, 'CANCELLED')) }
}

function ownPayout({ book }: Context, call: ProviderCall): Payout {
  const payout = book.get('payouts', call.id('payout'))
  if (payout?.account !== call.account) throw new Problem('DATA_NOT_FOUND', 'Payout not found')
  return payout
}

function listBanks(_world: Context, { query }: ProviderCall): HttpAnswer {
  const categories = query.get('channel_category')?.split(',')
  const code = query.get('channel_code')
  const currency = query.get('currency') ?? currencyOf.ID
  const fits = (bank: Bank): boolean =>
    currency === currencyOf.ID && (!categories || categories.includes(bank.category)) && (!code || bank.code === code)
  return { body: banks.filter(fits).map(bankBody) }
}

const bankBody = (bank: Bank) => ({
  channel_code: bank.code,
  channel_category: bank.category,
  currency: currencyOf.ID,
  channel_name: bank.name,
  amount_limits: {
    minimum: majorFromMinor(bank.minMinor, currencyOf.ID),
    maximum: majorFromMinor(bank.maxMinor, currencyOf.ID),
    minimum_increment: 1,
  },
})
