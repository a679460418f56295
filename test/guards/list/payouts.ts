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
      name: 'is not counted once the refused order was given back',
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
    guard: 'a payout stays with the API version of its first attempt',
    kind: 'key',
    edits: [edit(at('cashout.store.ts'), 'cashout.payoutApi ?? forNew', 'forNew')],
    test: {
      file: at('paying/versions.test.ts'),
      name: 'from %s to %s keeps its version and pays it once',
    },
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
