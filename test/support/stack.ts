import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bootStack, type Stack, type StackOptions } from '#infra/local/stack'

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
  const stack = await bootStack({
    dir,
    ports: 'free',
    durable: false,
    env: quickChecks,
    ...options,
  })
  return Object.assign(Object.create(stack) as Stack, {
    [Symbol.asyncDispose]: async () => {
      await stack[Symbol.asyncDispose]()
      if (process.env.KEEP_STACKS !== '1') rmSync(dir, { recursive: true, force: true })
      else console.log(`kept ${dir}`)
    },
  })
}

let shared: Promise<Stack> | undefined

/** One stack for all suites that only use the service and break nothing. Holds last 4 seconds. */
export const sharedStack = (): Promise<Stack> => {
  shared ??= ownStack({ terms: { holdSeconds: 4, minCycleSeconds: 0 } })
  return shared
}

export async function closeSharedStack(): Promise<void> {
  const open = await shared?.catch(() => undefined)
  shared = undefined
  await open?.[Symbol.asyncDispose]()
}
