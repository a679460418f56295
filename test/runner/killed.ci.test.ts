import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { repositoryDir } from '#infra/local/folders'
import { waitUntil } from '../support/wait'

type Process = { readonly pid: number; readonly parent: number; readonly words: string }

function running(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
        const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
        const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')
        return state === 'Z' ? [] : [{ pid: Number(name), parent: Number(parent), words }]
      } catch {
        return [] // It ended meanwhile.
      }
    })
}

function descendants(pid: number, all = running()): Process[] {
  const children = all.filter(({ parent }) => parent === pid)
  return [...children, ...children.flatMap((child) => descendants(child.pid, all))]
}

const mappedInMemory = (all: readonly Process[]): string[] =>
  all.flatMap(
    ({ pid }) =>
      readFileSync(`/proc/${pid}/maps`, 'utf8').match(/\/dev\/shm\/PostgreSQL\.\d+/g) ?? [],
  )

/** Postgres has its shared memory once its children run. */
const engines = [/\/anvil /, /^postgres: checkpointer/]

test.each<[string, RegExp | undefined]>([
  ['the command itself', undefined],
  ['the runner', /runner\/run\.ts/],
  ['bun test', / test --no-orphans/],
])(
  'a run leaves no process and no file in /dev/shm behind within five seconds of kill -9 on %s',
  async (_, victim) => {
    const suite = 'services/chain-relayer/relay-loop.test.ts'
    const run = Bun.spawn([process.execPath, 'run', 'test', suite], {
      cwd: repositoryDir,
      env: { ...process.env, SHARED_STACK_URL: undefined },
      stdout: 'ignore',
      stderr: 'ignore',
    })
    let family: Process[] = []
    await waitUntil('the suite running its engines', () => {
      family = descendants(run.pid)
      return engines.every((engine) => family.some(({ words }) => engine.test(words)))
    })
    const killed = victim
      ? family.find(({ words }) => victim.test(words) && !/^\S*sh /.test(words))!
      : run
    // Postgres removes such files only when it ends by itself.
    expect(mappedInMemory(family)).toEqual([])
    process.kill(killed.pid, 'SIGKILL')
    const pids = new Set(family.map(({ pid }) => pid))
    await waitUntil(
      'every process having ended',
      () => !running().some(({ pid, words }) => pids.has(pid) && words !== ''),
      5_000,
    )
    expect(await run.exited).not.toBe(0)
  },
)
