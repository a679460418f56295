import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const natsCli = Bun.which('nats')

export const noNatsCli = 'skipped: NATS CLI not found, run go install github.com/nats-io/natscli/nats@v0.5.0'

type CommandOutput = { readonly code: number; readonly text: string }

export type NatsShell = Disposable & {
  readonly run: (command: string) => Promise<CommandOutput>
}

/** Opens a shell whose contexts are in a folder of its own, which is removed at the end. */
export function openNatsShell(): NatsShell {
  const home = mkdtempSync(join(tmpdir(), 'nats-cli-'))
  return {
    run: async (command) => {
      const run = Bun.spawn(['sh', '-c', command], {
        env: { PATH: process.env.PATH ?? '', HOME: home, XDG_CONFIG_HOME: home },
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
        timeout: 60_000,
      })
      const [out, error] = await Promise.all([run.stdout, run.stderr].map((one) => new Response(one).text()))
      return { code: await run.exited, text: `${out}${error}` }
    },
    [Symbol.dispose]: () => rmSync(home, { recursive: true, force: true }),
  }
}

/** Messages that the CLI prints without an exit code. */
export const refused = /permissions violation|no res(?:ults|ponses) received/i
