import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryDir } from '#infra/local/folders'

const { scripts } = JSON.parse(readFileSync(join(repositoryDir, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>
}
/** `check` and `format` give their words to other programs. */
const ours = Object.keys(scripts).filter((name) => !['check', 'format'].includes(name))

const runScript = (name: string, word: string) => run(['run', name, word])
/** Runs the program of a script without the script, which installs the packages first. */
const runProgram = (name: string, word: string) =>
  run([...scripts[name]!.replace('exec sh infra/run.sh ', '').split(' '), word])

async function run(words: readonly string[]) {
  const child = Bun.spawn([process.execPath, ...words], {
    cwd: repositoryDir,
    env: { PATH: '/usr/bin:/bin', HOME: process.env.HOME ?? '/', LOCAL_DIR: '/nowhere' },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [said, complaint] = await Promise.all([child.stdout, child.stderr].map((stream) => new Response(stream).text()))
  return { code: await child.exited, said: said!, complaint: complaint! }
}

describe('every script of package.json, without Bun on the PATH', () => {
  test.each(ours)('%s --help prints its use and does nothing else', async (name) => {
    const { code, said } = await runScript(name, '--help')
    expect(said).toMatch(new RegExp(`^(usage: )?(npx (-y )?)?\\S*bun\\S* run ${name.split(':')[0]}`))
    expect(code).toBe(0)
  })

  test.each(ours)('%s refuses an unknown option by name', async (name) => {
    const { code, said, complaint } = await runProgram(name, '--no-such-option')
    expect(said + complaint).toContain(`--no-such-option`)
    expect(complaint).not.toContain('    at ') // A stack trace.
    expect(code).toBe(2)
  })
})
