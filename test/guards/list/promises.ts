import type { Guard } from '../guard'
import { always, dropped, instead, never, without } from '../operators'

const payments = (path: string) => `services/payments/${path}`
const payouts = (path: string) => `services/payouts/${path}`

const topups: readonly Guard[] = [
  {
    guard: 'a quote that made a payment serves no other request',
    kind: 'quote',
    by: dropped,
    test: { file: payments('checkout/open.test.ts'), name: 'security: is refused with %s' },
  },
  {
    guard: 'a payment takes its quote before its checkout is opened',
    kind: 'quote',
    by: instead('QuoteTake', 'QuoteFind'),
    test: {
      file: payments('checkout/open.test.ts'),
      name: 'a %s takes its quote, which no cash-out can take',
    },
  },
  {
    guard: 'one instance at a time opens the checkout of a payment',
    kind: 'guarded update',
    by: dropped,
    test: {
      file: payments('payment.store.test.ts'),
      name: 'is opened by one instance at a time, and by another after that one dies',
    },
  },
  {
    guard: 'an unverified user opens no top-up',
    kind: 'rights',
    by: dropped,
    test: {
      file: payments('checkout/open.test.ts'),
      name: 'of %s is refused with %s, writes nothing and leaves the quote',
    },
  },
  {
    guard: 'a frozen wallet cannot pay by card',
    kind: 'rights',
    by: never,
    test: {
      file: payments('losses/reversal.test.ts'),
      name: 'is refused cards only, and its quote stays unused',
    },
  },
  {
    guard: 'top-ups are promised one at a time across all instances',
    kind: 'lock',
    by: dropped,
    test: {
      file: payments('treasury/reserve.test.ts'),
      name: 'open ten of forty if the treasury covers ten',
    },
  },
  {
    guard: 'no top-up is accepted that the treasury does not cover',
    kind: 'cover',
    by: always,
    test: {
      file: payments('treasury/reserve.test.ts'),
      name: 'is refused, and its quote is usable as soon as the treasury is funded',
    },
  },
  {
    guard: "a wallet's unpaid top-ups hold at most half of the free AUSD",
    kind: 'cover',
    by: instead('2n *', ''),
    test: {
      file: payments('treasury/reserve.test.ts'),
      name: 'of one wallet reserve at most half of the otherwise free AUSD',
    },
  },
  {
    guard: 'what exceeds a debt is held to the limits of top-ups',
    kind: 'cover',
    by: instead('<', '>'),
    test: {
      file: payments('treasury/excess.test.ts'),
      name: 'several times in a row is stopped by the daily limit',
    },
  },
  {
    guard: 'a debt that is not ripe is held to the limits of top-ups',
    kind: 'cover',
    by: instead('drawnMicro -', '0n *'),
    test: {
      file: payments('treasury/excess.test.ts'),
      name: 'counts for the rest of the day after its settlement',
    },
  },
  {
    guard: 'AUSD owed to cash-outs is not promised to top-ups',
    kind: 'cover',
    by: instead('- owedMicro', ''),
    test: { file: payments('treasury/reserve.test.ts'), name: 'that may be returned is not free' },
  },
  {
    guard: 'a stale treasury balance covers nothing',
    kind: 'cover',
    by: instead('youngerThan(readingMaxMs)', 'last'),
    test: {
      file: payments('treasury/reserve.test.ts'),
      name: 'counts by its last reading for a while; then no top-up is opened, and a debt stays payable',
    },
  },
  {
    guard: "a wallet's top-ups are counted under its lock",
    kind: 'lock',
    by: dropped,
    test: {
      file: payments('checkout/open.test.ts'),
      name: 'hold for %s with twenty concurrent top-ups, and the others leave their quotes unused',
    },
  },
  {
    guard: 'a settlement is stored only if no other of its debt is open or in progress',
    kind: 'lock',
    by: instead('await findUnsettled(tx, wallet)', '[]'),
    also: ['there is no second row for payments.payments_open_settlement'],
    test: {
      file: payments('checkout/replace.test.ts'),
      name: 'requested ten times concurrently leaves one open checkout, here and at the provider',
    },
  },
  {
    guard: 'an earlier checkout is ended at the provider before another is opened for its debt',
    kind: 'decision',
    by: instead('await', "account ? 'closed' : await"),
    test: {
      file: payments('checkout/replace.test.ts'),
      name: 'ends the first at the provider, and the first request still gets its first response',
    },
  },
]

const cashouts: readonly Guard[] = [
  {
    guard: 'a cash-out is a transfer to the treasury',
    kind: 'authorization',
    by: dropped,
    test: { file: payouts('request/open.test.ts'), name: '%p: %s' },
  },
  {
    guard: 'a cash-out is requested by the signer of its transfer',
    kind: 'authorization',
    by: dropped,
    test: { file: payouts('request/open.test.ts'), name: '%p: %s' },
  },
  {
    guard: 'a signed transfer that the chain would refuse is refused',
    kind: 'authorization',
    by: dropped,
    also: ['a frozen wallet cannot cash out'],
    test: { file: payouts('request/open.test.ts'), name: "and for the chain's refusal %s" },
  },
  {
    guard: 'a frozen wallet cannot cash out',
    kind: 'rights',
    by: instead('return chain', "Object.assign(chain, { ok: { free: '9000000000', counted: [] } })"),
    test: {
      file: payouts('request/open.test.ts'),
      name: '%i %s, after all faults with 400; the quote stays unused',
    },
  },
  {
    guard: 'a quote that made a cash-out serves no other request',
    kind: 'quote',
    by: always,
    test: { file: payouts('request/open.test.ts'), name: 'keeps its quote from %s' },
  },
  {
    guard: 'a cash-out takes its quote before it is accepted',
    kind: 'quote',
    by: instead('QuoteTake', 'QuoteFind'),
    test: {
      file: payouts('request/open.test.ts'),
      name: 'an accepted cash-out takes its quote, which no top-up can take',
    },
  },
  {
    guard: 'a signed transfer pays one cash-out',
    kind: 'authorization',
    by: [
      instead('nonce)', 'authorizer)'),
      instead('values(cashout', 'values({ ...cashout, authorizationNonce: crypto.randomUUID() }'),
    ],
    test: {
      file: payouts('request/open.test.ts'),
      name: 'keeps its authorization from a second quote, which stays unused',
    },
  },
  {
    guard: "a wallet's cash-outs of a day are counted under its lock",
    kind: 'lock',
    by: dropped,
    test: {
      file: payouts('request/open.test.ts'),
      name: 'security: of ten concurrent cash-outs, with a limit of two a day, two are accepted',
    },
  },
  {
    guard: "a bank account's cash-outs of a day are counted over all wallets",
    kind: 'cover',
    by: never,
    test: {
      file: payouts('request/open.test.ts'),
      name: 'with four concurrent wallets: two are paid to one account, and others to another',
    },
  },
  {
    guard: 'cash-outs while the market is closed have a limit of their own',
    kind: 'cover',
    by: never,
    test: {
      file: payouts('request/open.test.ts'),
      name: 'all wallets together cash out no more than the limit of a day, also at the same time',
    },
  },
  {
    guard: "a wallet's cash-outs while the market is closed have a limit of their own",
    kind: 'cover',
    by: never,
    test: {
      file: payouts('request/open.test.ts'),
      name: 'one wallet cashes out no more than its own limit of a day',
    },
  },
  {
    guard: "a bank account's cash-outs of contract wallets are counted when their AUSD arrives",
    kind: 'cover',
    by: never,
    test: {
      file: payouts('request/contract-wallet.test.ts'),
      name: 'gets its AUSD back if its bank account has reached its limit when the AUSD arrives',
    },
  },
  {
    guard: 'one balance serves one cash-out',
    kind: 'cover',
    by: never,
    test: {
      file: payouts('request/open.test.ts'),
      name: 'serves one of twenty concurrent cash-outs',
    },
  },
  {
    guard: 'rupiah are promised one at a time across all instances',
    kind: 'lock',
    by: dropped,
    test: {
      file: payouts('treasury/cover.test.ts'),
      name: 'security: a cash-out is not checked against the balance while another is being stored',
    },
  },
  {
    guard: "no cash-out is accepted that the provider's balance does not cover",
    kind: 'cover',
    by: instead('minor', 'minor * 10n'),
    test: {
      file: payouts('treasury/cover.test.ts'),
      name: 'is refused, and its quote is usable once the balance covers it',
    },
  },
  {
    guard: 'a cash-out is accepted only within a minute after it was stored',
    kind: 'quote',
    by: without('!isOld'),
    test: {
      file: payouts('request/opening.test.ts'),
      name: 'is refused after a minute, whether or not it has ended yet',
    },
  },
]

export const promiseGuards: readonly Guard[] = [...topups, ...cashouts]
