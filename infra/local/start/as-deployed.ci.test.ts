import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPublicClient, http } from 'viem'
import { deployedValue } from '#infra/configuration/deployed'
import { processes } from '#infra/configuration/processes'
import { differenceLines, differences } from '#infra/local/differences'
import { repositoryDir } from '#infra/local/folders'
import { runtimeSettings } from '#infra/local/stack/runtime'
import { readStackFile, type StackFile, stackFilePath } from '#infra/local/stack-file'
import { Hopeless, waitUntil } from '#infra/local/wait'
import { leastBaseFeeWei } from '#shared/chain/gas'
import { okOf, openVisitor } from '#shared/client/client'
import { about, descendantsOf } from '#test/support/processes'

// The stack of `bun run start`, as it runs: each process is asked for its environment, and the contract for its terms.

const dir = join(mkdtempSync(join(tmpdir(), 'as-deployed-')), 'stack')
let child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>
let said = ''
let stack: StackFile

beforeAll(async () => {
  child = Bun.spawn([process.execPath, join(repositoryDir, 'infra/local/start.ts')], {
    env: { PATH: process.env.PATH ?? '', LOCAL_DIR: dir },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const listen = async (stream: ReadableStream<Uint8Array>) => {
    for await (const part of stream) said += new TextDecoder().decode(part)
  }
  void Promise.all([listen(child.stdout), listen(child.stderr)])
  const isReady = () => {
    if (child.exitCode !== null) throw new Hopeless(`start ended: ${said}`)
    return said.includes('Ctrl-C stops everything')
  }
  await waitUntil('the start', isReady, 240_000)
  expect(existsSync(stackFilePath(dir))).toBe(true)
  stack = readStackFile(dir)
})
afterAll(async () => {
  child?.kill('SIGTERM')
  await child?.exited
  rmSync(join(dir, '..'), { recursive: true, force: true })
})

const environmentOf = (pid: number): Record<string, string> =>
  Object.fromEntries(
    about(pid, 'environ')
      .split('\0')
      .filter(Boolean)
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )

/** Returns the pids of the processes of the stack that read a configuration, by name. */
function pidsOf(): [string, number][] {
  const services = Object.entries(stack.services).map(([name, { pid }]): [string, number] => [name, pid])
  const operations = descendantsOf(child.pid).filter((pid) =>
    about(pid, 'cmdline').endsWith('infra/operations/main.ts\0'),
  )
  return [...services, ...operations.map((pid): [string, number] => ['operations', pid])]
}

/** Ports that start moves if they are taken. */
const ports = ['HTTP_PORT', 'OPS_PORT']
/** Variables that configure no service. */
const surroundings = ['PATH', 'HOME', 'TZ', 'END_WITH_STDIN', 'PUBLIC_SECRETS', ...Object.keys(runtimeSettings)]

describe('the stack of `bun run start`', () => {
  test('has no setting that differs from a deployment but those of the table', () => {
    const pids = pidsOf()
    expect(pids).toHaveLength(7)
    const found = pids.flatMap(([name, pid]) => {
      const env = environmentOf(pid)
      expect(env.DEPLOYMENT).toBe('local')
      return Object.entries(processes[name]!).flatMap(([setting, { fallback }]) => {
        const deployed = deployedValue(name, setting)
        const here = env[setting] ?? fallback
        return deployed === undefined || here === deployed || ports.includes(setting) ? [] : [setting]
      })
    })
    const listed = differences
      .map(({ setting }) => setting)
      .filter((setting) => pids.some(([name]) => deployedValue(name, setting) !== undefined))
    expect([...new Set(found)].toSorted()).toEqual(listed.toSorted())
  })

  test('gives no process a variable that it does not read, such as a failpoint', () => {
    for (const [name, pid] of pidsOf()) {
      const known = [...surroundings, ...Object.keys(processes[name]!)]
      expect([name, Object.keys(environmentOf(pid)).filter((one) => !known.includes(one))]).toEqual([name, []])
    }
  })

  test('has the terms of a deployment, but for those of the table', async () => {
    const { hold, credit } = okOf(await openVisitor({ baseUrl: stack.gateway }).config())
    const terms = {
      HOLD_SECONDS: hold.seconds,
      MIN_CYCLE_SECONDS: credit.cycle.minSeconds,
      MIN_DEBT_AUSD_MICRO: credit.cycle.minDebt,
      TERM_SECONDS: credit.cycle.termSeconds,
      GRACE_SECONDS: credit.cycle.graceSeconds,
      INITIAL_RATIO_BPS: credit.initialRatioBps,
    }
    const different = Object.entries(terms).filter(
      ([setting, value]) => String(value) !== deployedValue('deploy', setting),
    )
    expect(different.map(([setting]) => setting)).toEqual(['MIN_CYCLE_SECONDS'])
  })

  test('has a chain whose base fee stays at the least of Monad', async () => {
    const chain = createPublicClient({ transport: http(stack.chain.rpcUrl), cacheTime: 0 })
    const from = await chain.getBlockNumber()
    await waitUntil('ten more blocks', async () => (await chain.getBlockNumber()) >= from + 10n)
    expect((await chain.getBlock()).baseFeePerGas).toBe(leastBaseFeeWei)
  })

  test('prints each difference with its reason', () => {
    for (const line of differenceLines()) expect(said).toContain(line)
  })
})
