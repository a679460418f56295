import { edit, type Guard } from '../guard'

const at = (path: string) => `services/payouts/${path}`

export const payoutGuards: readonly Guard[] = [
  {
    guard: 'a cash-out moves only from a state that allows the step',
    kind: 'guarded update',
    edits: [
      edit(
        at('cashout.store.ts'),
        '.where(and(eq(cashouts.id, id), inArray(cashouts.state, statesBefore(lifecycle, next))))',
        '.where(eq(cashouts.id, id))',
      ),
    ],
    test: {
      file: at('cashout.store.test.ts'),
      name: 'moves once for concurrent transactions, and never back',
    },
  },
  {
    guard: 'one transaction at a time decides about a cash-out',
    kind: 'lock',
    edits: [
      edit(
        at('cashout.store.ts'),
        ".where(eq(cashouts.id, id)).for('update'))[0]",
        '.where(eq(cashouts.id, id)))[0]',
      ),
    ],
    test: {
      file: at('cashout.store.test.ts'),
      name: 'is locked by one transaction at a time',
    },
  },
  {
    guard: 'a late take of a failed cash-out is given back and never paid',
    kind: 'decision',
    edits: [
      edit(
        at('decide.ts'),
        "return { next: 'returning', reason: 'taken_late' }",
        'return { stay: true }',
      ),
    ],
    test: {
      file: at('onchain/relay.test.ts'),
      name: 'is returned once, is never paid to the bank, and the user gets the reason',
    },
  },
  {
    guard: 'an attempt is counted only while the cash-out may be paid',
    kind: 'guarded update',
    edits: [
      edit(
        at('paying/pay.ts'),
        "if (before?.state !== 'paying') return undefined",
        'if (!before) return undefined',
      ),
    ],
    test: {
      file: at('paying/unclear.test.ts'),
      name: 'is counted with the time since the previous one, also by another instance',
    },
  },
  {
    guard: 'an attempt is committed before the provider is called',
    kind: 'outbox',
    edits: [
      edit(
        at('paying/pay.ts'),
        `  const counted = await beginAttempt(context, before.id)
  if (!counted) return
  failpoint('payouts:before-provider')
  const answer = await provider.create(order, apiOf(counted.cashout, provider.apis[0]))
`,
        `  const answer = await provider.create(order, apiOf(before, provider.apis[0]))
  const counted = await beginAttempt(context, before.id)
  if (!counted) return
`,
      ),
    ],
    test: {
      file: at('paying/unclear.test.ts'),
      name: 'is committed before it is sent to the provider',
    },
  },
  {
    guard: 'a payout keeps one idempotency key',
    kind: 'key',
    edits: [
      edit(
        at('providers/xendit/client.ts'),
        'const asked = { body: bodyOf(order), idempotencyKey: order.id }',
        'const asked = { body: bodyOf(order), idempotencyKey: crypto.randomUUID() }',
      ),
    ],
    also: [
      edit(
        at('paying/pay.ts'),
        'if (!(await lookUp(context, cashout))) await attempt',
        'await attempt',
      ),
    ],
    test: {
      file: at('paying/pay.test.ts'),
      name: '(%s) is resolved only by evidence, with one transfer',
      row: 'time-outs after it accepted',
    },
  },
  {
    guard: 'a v3 payout keeps one idempotency key',
    kind: 'key',
    edits: [
      edit(
        at('providers/xendit/client.ts'),
        'const asked = { body: bodyOfV3(order), idempotencyKey: order.id, apiVersion }',
        'const asked = { body: bodyOfV3(order), idempotencyKey: crypto.randomUUID(), apiVersion }',
      ),
    ],
    also: [
      edit(
        at('paying/pay.ts'),
        'if (!(await lookUp(context, cashout))) await attempt',
        'await attempt',
      ),
    ],
    test: {
      file: at('paying/versions.test.ts'),
      name: 'are ordered once however often the response is lost',
    },
  },
  {
    guard: 'a payout is looked up before it is ordered again',
    kind: 'look-up',
    edits: [
      edit(
        at('paying/pay.ts'),
        'if (!(await lookUp(context, cashout))) await attempt',
        'await attempt',
      ),
    ],
    test: {
      file: at('incoming/recheck.test.ts'),
      name: 'as %s is not paid again, although the provider has forgotten its key',
    },
  },
  {
    guard:
      'a payout is looked up under every version of the API that was used before its first order',
    kind: 'look-up',
    edits: [
      edit(
        at('incoming/receive.ts'),
        'const apis = cashout.payoutApi ? [cashout.payoutApi] : context.provider.apis',
        'const apis = [cashout.payoutApi ?? context.provider.apis[0]]',
      ),
    ],
    test: {
      file: at('incoming/recheck.test.ts'),
      name: 'is looked up in %s even if new payouts use %s',
    },
  },
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
    guard: 'a payout stays with the API version of its first attempt',
    kind: 'key',
    edits: [edit(at('cashout.store.ts'), 'cashout.payoutApi ?? forNew', 'forNew')],
    test: {
      file: at('paying/versions.test.ts'),
      name: 'from %s to %s keeps its version and pays it once',
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
    guard: 'nothing is returned while a later attempt may be accepted',
    kind: 'guarded update',
    edits: [
      edit(
        at('paying/pay.ts'),
        'current?.attempts === attempts && startReturn',
        'current !== undefined && attempts > 0 && startReturn',
      ),
    ],
    test: {
      file: at('paying/unclear.test.ts'),
      name: 'refused during a later attempt returns nothing',
    },
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
  {
    guard: 'sealed bank details open only for their own payout',
    kind: 'key',
    edits: [
      edit(
        at('request/bank.ts'),
        '.setAAD(Buffer.from(payoutId))\n  const text',
        '.setAAD(Buffer.from(""))\n  const text',
      ),
      edit(
        at('request/bank.ts'),
        'opening.setAAD(Buffer.from(payoutId))',
        'opening.setAAD(Buffer.from(""))',
      ),
    ],
    test: {
      file: at('request/bank.test.ts'),
      name: 'security: do not open under another payout',
    },
  },
  {
    guard: 'account checks of a wallet are counted one after another',
    kind: 'lock',
    edits: [edit(at('account-check/check.ts'), '    await lockWallet(tx, wallet)\n', '')],
    test: {
      file: at('account-check/check.test.ts'),
      name: 'of a wallet are three a day, also if ten are sent at once',
    },
  },
]
