import { edit, type Guard } from '../guard'

const at = (path: string) => `services/payouts/${path}`

export const payoutEvidenceGuards: readonly Guard[] = [
  {
    guard: 'a payout that the provider told of is followed, and none is ordered beside it',
    kind: 'evidence',
    edits: [
      edit(
        at('incoming/receive.ts'),
        'if (!isFollowed(cashout.state) && mayBeIts(facts, evidence)) {',
        "if (cashout.state === 'paid' && mayBeIts(facts, evidence)) {",
      ),
    ],
    test: {
      file: at('incoming/recheck.test.ts'),
      name: 'keeps the payout of a webhook (%s), and is not ordered even if no look-up finds it',
    },
  },
  {
    guard: 'AUSD that arrives late is returned only after its payout was looked for',
    kind: 'evidence',
    edits: [
      edit(
        at('onchain/relay.ts'),
        'find: ({ cause }) => findBeforeReturn(context, cause),',
        'find: async () => [],',
      ),
    ],
    test: {
      file: at('incoming/recheck.test.ts'),
      name: 'keeps its AUSD if it is %s and its payout is not known yet',
    },
  },
  {
    guard: 'a listed payout is asked about until the books agree with its row',
    kind: 'evidence',
    edits: [
      edit(
        at('incoming/provider-list.ts'),
        "leftMinor === (status === 'succeeded' ? amountMinor : 0n)",
        "leftMinor <= (status === 'succeeded' ? amountMinor : 0n)",
      ),
    ],
    test: {
      file: at('incoming/provider-list.test.ts'),
      name: 'that returned its AUSD is noticed by the next reading of the list',
    },
  },
  {
    guard: 'AUSD of a cash-out whose payout may have reached the bank is not returned',
    kind: 'evidence',
    edits: [
      edit(
        at('decide.ts'),
        'providerPayoutId !== null && !isFailure(lastStatus)',
        'providerPayoutId === null && lastStatus !== null',
      ),
    ],
    test: {
      file: at('incoming/recheck.test.ts'),
      name: 'keeps its AUSD if it is %s and its payout may have reached the bank, and returns it if the payout failed',
    },
  },
  {
    guard: 'only one response means that a reference has no payouts',
    kind: 'evidence',
    edits: [
      edit(
        at('providers/xendit/client.ts'),
        'if (own.length === 0 && !saysNone)',
        'if (saysNone === null)',
      ),
    ],
    test: {
      file: at('paying/unclear.test.ts'),
      name: '%s',
      row: 'an empty array',
    },
  },
  {
    guard: 'only a refusal of this very order counts',
    kind: 'evidence',
    edits: [
      edit(
        at('decide.ts'),
        "if (refusalScope(meaning) !== 'order' || found > 0) return false",
        'if (found > 0) return false',
      ),
    ],
    test: { file: at('decide.test.ts'), name: '%s: %p' },
  },
  {
    guard: 'a refusal proves nothing right after an attempt of unknown outcome',
    kind: 'evidence',
    edits: [
      edit(
        at('decide.ts'),
        'return attempts === 1 || sincePreviousMs >= conclusiveAfterMs',
        'return attempts + sincePreviousMs > 0',
      ),
    ],
    test: { file: at('decide.test.ts'), name: '%s: %p', row: 'soon after an unclear attempt' },
  },
  {
    guard: 'of two payouts, the one that may still reach the bank decides',
    kind: 'evidence',
    edits: [
      edit(
        at('decide.ts'),
        'return alive.length > 0 ? alive : found',
        'return alive.length < 0 ? alive : found.toSorted((a, b) => Number(hasFailed(b)) - Number(hasFailed(a)))',
      ),
    ],
    test: {
      file: at('paying/unclear.test.ts'),
      name: 'the cash-out follows the one that may still reach the bank, not the failed one',
    },
  },
  {
    guard: 'a failed payout returns nothing before its reference is looked up',
    kind: 'evidence',
    edits: [
      edit(
        at('incoming/receive.ts'),
        'if (!own || (own.providerPayoutId !== null && own.attempts > 0)) return named',
        'if (!own || own.attempts >= 0) return named',
      ),
    ],
    test: {
      file: at('paying/unclear.test.ts'),
      name: '%s about the failed one returns nothing before the other is known',
      row: 'a delivery',
    },
  },
  {
    guard: 'a payout with another amount is no success',
    kind: 'evidence',
    edits: [
      edit(
        at('decide.ts'),
        "if (evidence.amountMinor !== cashout.fiatMinor || evidence.currency !== 'IDR')\n    return { odd: 'payout_differs' }",
        '',
      ),
    ],
    test: { file: at('decide.test.ts'), name: 'for %s is never a success', row: 'another amount' },
  },
  {
    guard: 'a second payout of a cash-out is no success',
    kind: 'evidence',
    edits: [
      edit(at('decide.ts'), "if (!mayBeIts(cashout, evidence)) return { odd: 'paid_twice' }", ''),
    ],
    test: { file: at('decide.test.ts'), name: 'for %s is never a success', row: 'a second payout' },
  },
  {
    guard: 'an unknown status is no success',
    kind: 'evidence',
    edits: [
      edit(
        at('decide.ts'),
        `    case 'unknown':
      return { odd: 'status_unknown' }
  }
}

function whilePaid`,
        `    case 'unknown':
      return { next: 'paid' }
  }
}

function whilePaid`,
      ),
    ],
    test: {
      file: at('decide.test.ts'),
      name: 'in the state %s: %s means %p',
      row: ['paying', 'A_NEW_WORD'],
    },
  },
  {
    guard: 'a webhook is a hint: its payout is fetched',
    kind: 'evidence',
    edits: [
      edit(
        at('incoming/webhook.ts'),
        'const evidence = await context.provider\n        .find(hint.payoutId)',
        `const { data } = JSON.parse(body)
      const told = { payoutId: hint.payoutId, referenceId: data.reference_id, status: context.provider.statusOf(data.status), word: data.status, failureCode: null, reason: null, amountMinor: BigInt(data.amount ?? 0), currency: 'IDR' }
      const evidence = await Promise.resolve(told)`,
      ),
    ],
    test: { file: at('paying/pay.test.ts'), name: 'are only hints: a false one changes nothing' },
  },
]
