import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { bundleOf, currentBundles } from '#infra/bundle/bundle'
import { repositoryDir } from '#infra/local/folders'
import { bootStack, type RunningStack, type Stack, type StackOptions } from '#infra/local/stack'
import { migratedCluster } from './engines/cluster'

/** Sweepers that check sooner, so that a suite waits seconds where production waits half a minute. */
const sweeps = { SWEEP_AFTER_MS: '2500', SWEEP_EVERY_MS: '500' }
const listings = { LIST_LATEST_EVERY_MS: '1000' }
/** The providers' quarter of an hour before the first retry becomes a second. */
const retries = { WEBHOOK_RETRY_SCALE: '0.001' }
export const quickChecks = {
  payments: { ...sweeps, ...listings },
  payouts: sweeps,
  sandbox: retries,
}

/** A whole stack of one suite's own: free ports, own folder, gone with the suite. */
export async function ownStack(options: Partial<StackOptions> = {}): Promise<Stack> {
  const dir = mkdtempSync(join(tmpdir(), 'stack-'))
  const tidy = () => {
    if (process.env.KEEP_STACKS !== '1') rmSync(dir, { recursive: true, force: true })
    else console.log(`kept ${dir}`)
  }
  try {
    const stack = await bootStack({
      dir,
      ports: 'free',
      durable: false,
      env: quickChecks,
      cluster: await migratedCluster(),
      ...options,
    })
    return Object.assign(Object.create(stack) as Stack, {
      [Symbol.asyncDispose]: async () => {
        await stack[Symbol.asyncDispose]()
        tidy()
      },
    })
  } catch (error) {
    tidy()
    throw error
  }
}

let bundles: Promise<string> | undefined

/** Runs a command of `infra/ops` against a stack, as an operator does; what it said is trimmed. */
export async function operate({ dir }: RunningStack, script: string, ...words: string[]) {
  const isOps = script === 'main.ts'
  bundles ??= currentBundles()
  const program = isOps ? bundleOf(await bundles, 'ops') : `infra/ops/${script}`
  const run = Bun.spawn([process.execPath, resolve(repositoryDir, program), ...words], {
    env: { LOCAL_DIR: dir, PATH: process.env.PATH ?? '' },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [said, complaint] = await Promise.all(
    [run.stdout, run.stderr].map((stream) => new Response(stream).text()),
  )
  return { code: await run.exited, said: said!.trim(), complaint: complaint! }
}

/** Holds last 15 s: on a busy machine a suite still sees a hold, and refunds within it, before it ends. */
export const sharedStackOptions = { terms: { holdSeconds: 15, minCycleSeconds: 0 } }

let shared: Promise<RunningStack> | undefined
let own: Stack | undefined

/**
 * One stack for all suites that only use the service and kill none of its processes. `bun run test` boots
 * it for the whole run (`test/runner/shared-stack.ts`); a suite that is run alone boots its own.
 */
export const sharedStack = (): Promise<RunningStack> => {
  shared ??= process.env.SHARED_STACK_URL
    ? attach(process.env.SHARED_STACK_URL)
    : ownStack(sharedStackOptions).then((stack) => {
        own = stack
        return stack
      })
  return shared
}

async function attach(url: string): Promise<RunningStack> {
  const answer = await fetch(url)
  if (!answer.ok) throw new Error(`the shared stack did not start: ${await answer.text()}`)
  return (await answer.json()) as RunningStack
}

export async function closeSharedStack(): Promise<void> {
  await shared?.catch(() => undefined)
  shared = undefined
  await own?.[Symbol.asyncDispose]()
  own = undefined
}
