import { expect, test } from 'bun:test'
import { shown } from './approve'

test('security: a second operator sees every character of a proposal, whatever its reason imitates or hides', () => {
  const at = new Date('2026-11-29T08:00:00Z')
  const text = shown({
    command: crypto.randomUUID(),
    verb: 'review resolve',
    target: 'pay_1\u202e',
    reason: 'typo\n  it gives 1.000000 AUSD\u001b[8m',
    by: 'alice',
    subject: 'payments.review.resolve',
    request: { command: 'c', by: 'alice', reason: 'r', paymentId: 'pay_1\r\u009b2K' },
    terms: { micro: '900000000', to: '0x1', seen: '', until: at.toISOString() },
    line: { words: ['pay_1', 'refund'], options: {} },
    signature: { by: 'alice', signature: '0x' },
    proposedAt: at,
    until: at,
    isOpen: true,
  })
  expect(text.split('\n')).toEqual([
    'review resolve pay_1 refund',
    '  2026-11-29T08:00:00.000Z  proposed by alice: typo\\u{a}  it gives 1.000000 AUSD\\u{1b}[8m',
    '  it gives 900.000000 AUSD to 0x1',
    '  paymentId: pay_1\\u{d}\\u{9b}2K',
    '  counts until 2026-11-29T08:00:00.000Z; look first: bun run ops trace pay_1\\u{202e}',
  ])
})
