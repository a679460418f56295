import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { about, childrenOf, hasEnded } from '../support/processes'
import { waitUntil } from '../support/wait'

const script = join(import.meta.dir, 'simulate.ts')

/** Runs the simulation in its own process, which replaces parts of the services. */
async function simulate(...args: string[]) {
  const run = Bun.spawn([process.execPath, script, ...args], {
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, error] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()])
  return { code: await run.exited, out: `${out}${error}` }
}

const withoutTimes = (out: string): string[] => out.split('\n').filter((line) => !/ s$|processor time/.test(line))

test('many flows lose or double nothing, with any number of processes', async () => {
  const args = ['--flows', '160', '--seed', '1', '--once']
  const spread = await simulate(...args, '--workers', '2')
  expect(spread.out).toContain('nothing lost, nothing doubled, everything accounted for')
  expect(spread.code).toBe(0)
  for (const step of ['top-up: paid → credited', 'settlement: paid → repaid', 'cash-out: paying → paid'])
    expect(spread.out).toMatch(new RegExp(`\\d  ${step}`))
  const alone = await simulate(...args, '--workers', '1')
  expect(withoutTimes(alone.out)).toEqual(withoutTimes(spread.out))
})

test('every interleaving of a payment and of a cash-out ends well', async () => {
  const { code, out } = await simulate('--walk', 'short', '--workers', '1')
  expect(out).toContain('every state was visited, and from each an end can be reached')
  expect(code).toBe(0)
})

test('a walk ends with the command that repeats it', async () => {
  const words = ['--walk', 'paid by QR, refunded, every webhook twice, a crash', '--workers', '1']
  const run = Bun.spawn([process.execPath, script, ...words], { stdout: 'ignore' })
  const [worker] = await waitUntil('a worker', () => {
    const found = childrenOf(run.pid)
    return found.length > 0 && found
  })
  const cpuSeconds = () => Number(about(worker!, 'stat').split(' ')[13]) / 100
  await waitUntil('the worker being on its way', () => cpuSeconds() > 1, 120_000)
  run.kill('SIGKILL')
  await waitUntil('the end of the worker', () => hasEnded(worker!))
})
