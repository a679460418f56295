import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { bundleOf, currentBundles } from '#infra/bundle/bundle'
import { deployedValue } from '#infra/configuration/deployed'
import { repositoryDir } from '#infra/local/folders'
import { bootStack, type RunningStack, type Stack, type StackOptions } from '#infra/local/stack'
import { failureOf } from '#platform/command'
import { serviceNames } from '#shared/messages/topic'
import { migratedCluster } from './engines/cluster'
import { type Changes, liftedLimits, quickChecks, soonerTimes } from './settings'

const ownProcesses = [...serviceNames, 'sandbox', 'operations'] as const

/** Options of a suite's stack. */
export type SuiteOptions = Partial<StackOptions> & {
  /** `deployed` has a deployment's intervals, and no failpoints. */
  readonly times?: 'deployed'
  /** `deployed` has a deployment's limits, and its pace of reading the chain. */
  readonly limits?: 'deployed'
}

/** Returns a deployment's limits of a process, of which `bun run start` lifts some, too. */
const deployedLimits = (name: (typeof ownProcesses)[number]) =>
  Object.fromEntries(
    Object.keys(liftedLimits[name] ?? {}).flatMap((setting) => {
      const value = deployedValue(name, setting)
      return value === undefined ? [] : [[setting, value]]
    }),
  )

/** Returns the settings of each process: a deployment's, except for what suites change, and `env`. */
export const changesOf = ({ times, limits, env = quickChecks }: SuiteOptions): Changes =>
  Object.fromEntries(
    ownProcesses.map((name) => [
      name,
      {
        ...(times === 'deployed' ? {} : soonerTimes[name]),
        ...(limits === 'deployed' ? deployedLimits(name) : liftedLimits[name]),
        ...env[name],
      },
    ]),
  )

/** Starts a stack with a deployment's settings, except for what all suites change, and `options.env`. */
export async function ownStack({ times, limits, ...options }: SuiteOptions = {}): Promise<Stack> {
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
      cluster: await migratedCluster(),
      failpoints: times !== 'deployed',
      ...options,
      env: changesOf({ times, limits, ...options }),
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
async function opsBundle(): Promise<string> {
  bundles ??= currentBundles('operators')
  return bundleOf(await bundles, 'ops')
}

/** Trimmed output and exit code. */
export type Operated = { code: number; said: string; complaint: string }

/** Login name of the operator, where the machine has none. */
const operatorLogin = 'tester'

/** Runs `bun run ops` in this process: suites run a hundred commands, and each process costs a third of a second. */
export async function operate({ dir }: RunningStack, ...words: string[]): Promise<Operated> {
  // The import is here because only operators' suites need to load every command.
  const { runVerb } = await import('#infra/operations/cli/main')
  process.env.LOCAL_DIR = dir
  process.env.USER ||= operatorLogin
  const said: string[] = []
  const result = (code: number, complaint: string) => ({
    code,
    complaint,
    said: said.join('\n').trim(),
  })
  try {
    return result(await runVerb(words, (text) => said.push(text)), '')
  } catch (error) {
    const { code, text } = failureOf(error)
    return result(code, text)
  }
}

export async function operateAsProcess({ dir }: RunningStack, script: string, ...words: string[]): Promise<Operated> {
  const program = script === 'main.ts' ? await opsBundle() : `infra/operations/${script}`
  const run = Bun.spawn([process.execPath, resolve(repositoryDir, program), ...words], {
    env: { LOCAL_DIR: dir, PATH: process.env.PATH ?? '', USER: operatorLogin },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [said, complaint] = await Promise.all([run.stdout, run.stderr].map((stream) => new Response(stream).text()))
  return { code: await run.exited, said: said!.trim(), complaint: complaint! }
}

/**
 * Options with holds of 15 s, so that a busy machine can still refund within one, and with cycles that count however
 * short they are.
 */
export const sharedStackOptions = { terms: { holdSeconds: 15, minCycleSeconds: 0 } }

let shared: Promise<RunningStack> | undefined
let own: Stack | undefined

/**
 * Returns the stack that all suites share that kill no process; a suite that runs without the others starts its own.
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
