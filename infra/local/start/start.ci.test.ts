import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { repositoryDir } from '#infra/local/folders'
import type { RunningStack } from '#infra/local/stack'
import { closeSharedStack, sharedStack } from '#test/support/stack'
import { waitUntil } from '#test/support/wait'

let stack: RunningStack
beforeAll(async () => {
  stack = await sharedStack()
})
afterAll(closeSharedStack)

async function start(env: Record<string, string>) {
  const run = Bun.spawn([process.execPath, join(repositoryDir, 'infra/local/start.ts')], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [said, complaint] = await Promise.all([run.stdout, run.stderr].map((stream) => new Response(stream).text()))
  return { code: await run.exited, said: said!, complaint: complaint! }
}

test('a second start in the folder of a running stack prints what runs and changes nothing', async () => {
  const before = stack.info
  const { code, said } = await start({ LOCAL_DIR: stack.dir })
  expect(said).toContain('A stack is already running here')
  expect(said).toMatch(/process \d+/)
  expect(said).toContain(`${before.gateway}/docs`)
  expect(code).toBe(0)
  expect(stack.info).toEqual(before)
  expect(await (await fetch(`${before.gateway}/health`)).json()).toEqual({ status: 'alive' })
  await waitUntil('readiness', async () => (await fetch(`${before.ops.gateway}/ready`)).ok)
})
