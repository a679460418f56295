import type { Guard } from '../guard'
import { always, dropped, instead, never, preceded, without } from '../operators'

const at = (path: string) => `services/payouts/${path}`

export const payoutGuards: readonly Guard[] = [
  {
    guard: 'a cash-out that an operator holds is not paid',
    kind: 'guarded update',
    by: instead('not(cashouts.heldByOperator)', 'undefined'),
    test: {
      file: at('request/operator-commands.test.ts'),
      name: 'is not paid until the operator releases it, and then once',
    },
  },
  {
    guard: 'a cash-out is cancelled only before its payout is ordered',
    kind: 'decision',
    by: never,
    test: {
      file: at('request/operator-commands.test.ts'),
      name: 'hold or cancel a cash-out whose payout was ordered',
    },
  },
  {
    guard: 'a cash-out moves only from a state that allows the step',
    kind: 'guarded update',
    by: without('inArray'),
    test: {
      file: at('cashout.store.test.ts'),
      name: 'moves once for concurrent transactions, and never back',
    },
  },
  {
    guard: 'one transaction at a time decides about a cash-out',
    kind: 'lock',
    by: instead(".for('update')", ''),
    test: {
      file: at('cashout.store.test.ts'),
      name: 'is locked by one transaction at a time',
    },
  },
  {
    guard: 'a late take of a failed cash-out is given back and never paid',
    kind: 'decision',
    by: instead("next: 'returning', reason: 'taken_late'", 'stay: true'),
    test: {
      file: at('onchain/relay.test.ts'),
      name: 'is returned once, is never paid to the bank, and the user gets the reason',
    },
  },
  {
    guard: 'an attempt is counted only while the cash-out may be paid',
    kind: 'guarded update',
    by: instead("before?.state !== 'paying'", '!before'),
    test: {
      file: at('paying/unclear.test.ts'),
      name: 'is not counted once the refused order was given back',
    },
  },
  {
    guard: 'an attempt is committed before the provider is called',
    kind: 'outbox',
    by: preceded('await provider.create(order, apiOf(before, provider.apis[0]))'),
    test: {
      file: at('paying/unclear.test.ts'),
      name: 'is committed before it is sent to the provider',
    },
  },
  {
    guard: 'a payout keeps one idempotency key',
    kind: 'key',
    by: instead('order.id', 'crypto.randomUUID()'),
    also: ['a payout is looked up before it is ordered again'],
    test: {
      file: at('paying/pay.test.ts'),
      name: '(%s) is resolved only by evidence, with one transfer',
      row: 'time-outs after it accepted',
    },
  },
  {
    guard: 'a v3 payout keeps one idempotency key',
    kind: 'key',
    by: instead('order.id', 'crypto.randomUUID()'),
    also: ['a payout is looked up before it is ordered again'],
    test: {
      file: at('paying/versions.test.ts'),
      name: 'are ordered once however often the response is lost',
    },
  },
  {
    guard: 'a payout is looked up before it is ordered again',
    kind: 'look-up',
    by: always,
    test: {
      file: at('incoming/recheck.test.ts'),
      name: 'as %s is not paid again, although the provider has forgotten its key',
    },
  },
  {
    guard: 'a payout is looked up under every version of the API that was used before its first order',
    kind: 'look-up',
    by: instead('context.provider.apis', '[context.provider.apis[0]]'),
    test: {
      file: at('incoming/recheck.test.ts'),
      name: 'is looked up in %s even if new payouts use %s',
    },
  },
  {
    guard: 'a payout stays with the API version of its first attempt',
    kind: 'key',
    by: without('cashout.payoutApi'),
    test: {
      file: at('paying/versions.test.ts'),
      name: 'from %s to %s keeps its version and pays it once',
    },
  },
  {
    guard: 'nothing is returned while a later attempt may be accepted',
    kind: 'guarded update',
    by: instead('=== attempts', ''),
    test: {
      file: at('paying/unclear.test.ts'),
      name: 'refused during a later attempt returns nothing',
    },
  },
  {
    guard: 'sealed bank details open only for their own payout',
    kind: 'key',
    by: instead('payoutId', '""'),
    test: {
      file: at('request/bank.test.ts'),
      name: 'security: do not open under another payout',
    },
  },
  {
    guard: 'account checks of a wallet are counted one after another',
    kind: 'lock',
    by: dropped,
    test: {
      file: at('account-check/check.test.ts'),
      name: 'of a wallet are three a day, also if ten are sent at once',
    },
  },
]
