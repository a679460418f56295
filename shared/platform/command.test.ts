import { expect, test } from 'bun:test'

async function printed(text: string, how: 'say' | 'fail'): Promise<string> {
  const work = how === 'say' ? 'say(text)' : 'throw new Error(text)'
  const script = `
    import { runCommand } from '#platform/command'
    const text = ${JSON.stringify(text)}
    await runCommand(() => [], async (say) => { ${work} })`
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'pipe' })
  const parts = [child.stdout, child.stderr].map((stream) => new Response(stream).text())
  return (await Promise.all(parts)).join('')
}

test.each(['say', 'fail'] as const)(
  'security: a command prints the characters that a terminal obeys as codes (%s)',
  async (how) => {
    const text = 'payer \u001b]0;title\u0007 \u009b31m \u202emoc\r\tRp 5\nnext'
    expect(await printed(text, how)).toBe('payer \\u001b]0;title\\u0007 \\u009b31m \\u202emoc\\u000d\tRp 5\nnext\n')
  },
)
