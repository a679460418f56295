import { expect, test } from 'bun:test'
import type { Proposal } from '#infra/operations/audit-log/proposals'
import { codeOf, shown, unseenFault } from './approve'

const at = new Date('2026-11-29T08:00:00Z')
const proposal: Proposal = {
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
}

test('security: a second operator sees every character of a proposal, whatever its reason imitates or hides', () => {
  const text = shown(proposal)
  expect(text.split('\n')).toEqual([
    'review resolve pay_1 refund',
    '  2026-11-29T08:00:00.000Z  proposed by alice: typo\\u{a}  it gives 1.000000 AUSD\\u{1b}[8m',
    '  it gives 900.000000 AUSD to 0x1',
    '  paymentId: pay_1\\u{d}\\u{9b}2K',
    '  counts until 2026-11-29T08:00:00.000Z; look first: bun run ops trace pay_1\\u{202e}',
  ])
})

// guard: a second operator approves what was shown
test.each<[string, Partial<Proposal>]>([
  ['sum', { terms: { ...proposal.terms, micro: '900000001' } }],
  ['request', { request: { ...proposal.request, paymentId: 'pay_2' } }],
  ['signature', { signature: { by: 'alice', signature: '0x1' } }],
])(
  'security: a command that was proposed again with another %s is not approved by the code of the first',
  (_, change) => {
    const code = codeOf(proposal)
    expect(unseenFault(proposal, code)).toBeUndefined()
    expect(unseenFault({ ...proposal, ...change }, code)).toContain('was proposed again')
    expect(unseenFault(proposal, undefined)).toContain('look at it first')
  },
)
