import { expect } from 'bun:test'
import type { RunningStack } from '#infra/local/stack'

/** Starts the guide's example, which prints each notification in place of a push service. */
export function startNotifier(stack: RunningStack) {
  const { url, integrator } = stack.info.nats
  const child = Bun.spawn([process.execPath, 'services/gateway/guide/examples/notifier.ts'], {
    env: { NATS_URL: url, NATS_PASSWORD: integrator.password, PATH: process.env.PATH ?? '' },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  let said = ''
  const reading = (async () => {
    for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) said += part
  })()
  const linesOf = (wallet: string) => said.split('\n').filter((line) => line.startsWith(wallet))
  return {
    linesOf,
    idsOf: (wallet: string) => linesOf(wallet).map((line) => line.split(' ')[0]!),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await reading
      expect(await child.exited).toBe(0)
    },
  }
}
