import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bootStack, type Stack, type StackOptions } from '#infra/local/stack'

/** A whole stack of one suite's own: free ports, own folder, gone with the suite. */
export async function ownStack(options: Partial<StackOptions> = {}): Promise<Stack> {
  const dir = mkdtempSync(join(tmpdir(), 'stack-'))
  const stack = await bootStack({ dir, ports: 'free', durable: false, ...options })
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
  shared ??= ownStack({ terms: { holdSeconds: 4, minCycleSeconds: 1 } })
  return shared
}

export async function closeSharedStack(): Promise<void> {
  const open = await shared?.catch(() => undefined)
  shared = undefined
  await open?.[Symbol.asyncDispose]()
}
