import type { Guard } from '../guard'
import { always, dropped, instead, never, without } from '../operators'

const at = (path: string) => `services/payouts/${path}`

export const payoutEvidenceGuards: readonly Guard[] = [
  {
    guard: 'a payout that the provider told of is followed, and none is ordered beside it',
    kind: 'evidence',
    by: never,
    test: {
      file: at('incoming/recheck.test.ts'),
      name: 'keeps the payout of a webhook (%s), and is not ordered even if no look-up finds it',
    },
  },
  {
    guard: 'AUSD that arrives late is returned only after its payout was looked for',
    kind: 'evidence',
    by: instead('findBeforeReturn(context, cause)', '[]'),
    test: {
      file: at('incoming/recheck.test.ts'),
      name: 'keeps its AUSD if it is %s and its payout is not known yet',
    },
  },
  {
    guard: 'a listed payout is asked about until the books agree with its row',
    kind: 'evidence',
    by: instead('leftMinor ===', 'leftMinor <='),
    test: {
      file: at('incoming/provider-list.test.ts'),
      name: 'that returned its AUSD is noticed by the next reading of the list',
    },
  },
  {
    guard: 'AUSD of a cash-out whose payout may have reached the bank is not returned',
    kind: 'evidence',
    by: never,
    test: {
      file: at('incoming/recheck.test.ts'),
      name: 'keeps its AUSD if it is %s and its payout may have reached the bank, and returns it if the payout failed',
    },
  },
  {
    guard: 'only one response means that a reference has no payouts',
    kind: 'evidence',
    by: never,
    test: {
      file: at('paying/unclear.test.ts'),
      name: '%s',
      row: 'an empty array',
    },
  },
  {
    guard: 'only a refusal of this very order counts',
    kind: 'evidence',
    by: without('refusalScope'),
    test: { file: at('decide.test.ts'), name: '%s: %p' },
  },
  {
    guard: 'a refusal proves nothing right after an attempt of unknown outcome',
    kind: 'evidence',
    by: always,
    test: { file: at('decide.test.ts'), name: '%s: %p', row: 'soon after an unclear attempt' },
  },
  {
    guard: 'of two payouts, the one that may still reach the bank decides',
    kind: 'evidence',
    by: never,
    test: {
      file: at('paying/unclear.test.ts'),
      name: 'the cash-out follows the one that may still reach the bank, not the failed one',
    },
  },
  {
    guard: 'a failed payout returns nothing before its reference is looked up',
    kind: 'evidence',
    by: always,
    test: {
      file: at('paying/unclear.test.ts'),
      name: '%s about the failed one returns nothing before the other is known',
      row: 'a delivery',
    },
  },
  {
    guard: 'a payout with another amount is no success',
    kind: 'evidence',
    by: dropped,
    test: { file: at('decide.test.ts'), name: 'for %s is never a success', row: 'another amount' },
  },
  {
    guard: 'a second payout of a cash-out is no success',
    kind: 'evidence',
    by: dropped,
    test: { file: at('decide.test.ts'), name: 'for %s is never a success', row: 'a second payout' },
  },
  {
    guard: 'an unknown status is no success',
    kind: 'evidence',
    by: instead("odd: 'status_unknown'", "next: 'paid'"),
    test: {
      file: at('decide.test.ts'),
      name: 'in the state %s: %s means %p',
      row: ['paying', 'A_NEW_WORD'],
    },
  },
  {
    guard: 'a webhook is a hint: its payout is fetched',
    kind: 'evidence',
    by: instead(
      `evidence = await context.provider
        .find(hint.payoutId`,
      `{ data } = JSON.parse(body)
      const told = { payoutId: hint.payoutId, referenceId: data.reference_id, status: context.provider.statusOf(data.status), word: data.status, failureCode: null, reason: null, amountMinor: BigInt(data.amount ?? 0), currency: 'IDR' }
      const evidence = await Promise.resolve(told`,
    ),
    test: { file: at('paying/pay.test.ts'), name: 'are only hints: a false one changes nothing' },
  },
]
