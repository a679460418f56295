import { expect, test } from 'bun:test'
import { repositoryDir } from '#infra/local/folders'
import { about, descendantsOf, hasEnded } from '../support/processes'
import { waitUntil } from '../support/wait'

const wordsOf = (pid: number): string => about(pid, 'cmdline').replaceAll('\0', ' ')

const mappedInMemory = (pids: readonly number[]): string[] =>
  pids.flatMap((pid) => about(pid, 'maps').match(/\/dev\/shm\/PostgreSQL\.\d+/g) ?? [])

/** Processes of the engines; Postgres has its shared memory once its children run. */
const engines = [/\/anvil /, /^postgres: checkpointer/]

test.each<[string, RegExp | undefined]>([
  ['the command itself', undefined],
  ['the runner', /runner\/run\.ts/],
  ['bun test', / test --no-orphans/],
])('a run leaves no process and no file in /dev/shm behind within five seconds of kill -9 on %s', async (_, victim) => {
  const suite = 'services/chain-relayer/relay-loop.test.ts'
  const run = Bun.spawn([process.execPath, 'run', 'test', suite], {
    cwd: repositoryDir,
    env: { ...process.env, SHARED_STACK_URL: undefined },
    stdout: 'ignore',
    stderr: 'ignore',
  })
  let family: number[] = []
  await waitUntil('the suite running its engines', () => {
    family = descendantsOf(run.pid)
    return engines.every((engine) => family.some((pid) => engine.test(wordsOf(pid))))
  })
  const isVictim = (words: string) => victim?.test(words) && !/^\S*sh /.test(words)
  const killed = victim ? family.find((pid) => isVictim(wordsOf(pid)))! : run.pid
  // Postgres removes such files only if it ends in an orderly way.
  expect(mappedInMemory(family)).toEqual([])
  process.kill(killed, 'SIGKILL')
  await waitUntil('every process having ended', () => family.every(hasEnded), 5_000)
  expect(await run.exited).not.toBe(0)
})
