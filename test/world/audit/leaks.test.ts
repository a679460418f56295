import { expect, test } from 'bun:test'
import { leaksIn } from './leaks'

const secrets = [
  { name: 'TREASURY_KEY of chain-relayer', text: '0xabcdef0123456789' },
  { name: 'the number of an account', text: '1234567890', isPersonal: true },
]

test.each([
  ['a secret in a log line', 'log payments.log', '{"key":"0xabcdef0123456789"}', ['TREASURY_KEY']],
  ['an account in a message', 'message EVENTS', 'x {"to":"1234567890"}', ['the number']],
  ['both in one error', 'error', '1234567890 0xabcdef0123456789', ['TREASURY_KEY', 'the number']],
  ['nothing in words of another kind', 'metrics', 'ausd_total 123456789', []],
])('%s is found, and reported without repeating it', (_, where, text, names) => {
  const found = leaksIn([{ where, text }], secrets)
  expect(found.map((sentence) => names.filter((name) => sentence.includes(name)))).toEqual(names.map((name) => [name]))
  for (const sentence of found) expect(sentence).toStartWith(`${where} has `)
  expect(found.join()).not.toMatch(/0xabcdef|1234567890/)
})
