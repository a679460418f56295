import { expect, test } from 'bun:test'
import { join } from 'node:path'

const run = async (...words: string[]) => {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'main.ts'), ...words], {
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const printed = await new Response(child.stdout).text()
  return { code: await child.exited, printed }
}

test.each([
  ['no verb', []],
  ['a word that is no verb', ['constructor']],
])('an operator who gives %s is told the verbs, and the exit code says so', async (_, words) => {
  const { code, printed } = await run(...words)
  expect(code).toBe(2)
  expect(printed).toMatch(/^usage: bun run ops <verb>\n {2}status /)
})
