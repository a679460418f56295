import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { activeServices, localStack } from '#infra/compose/composition'
import { composeStackFile } from '#infra/compose/stack-file'
import { repositoryDir } from '#infra/local/folders'
import { waitUntil } from '#infra/local/wait'
import type { Engine, Ran } from './engine'

export type Container = {
  readonly id: string
  readonly service: string
  readonly running: boolean
  readonly exitCode: number
  readonly health: string
  readonly restarts: number
  readonly pid: number
}

export type ComposeStack = {
  readonly dir: string
  readonly compose: (args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<Ran>
  readonly containers: (project?: string) => Promise<Container[]>
  readonly gateway: string
  /** Returns the time it took in ms. */
  readonly allWell: (withinMs?: number) => Promise<number>
}

const expected = Object.values(activeServices(localStack(), [])).filter(({ restart }) => restart !== 'no').length

const left = new Set(['node_modules', '.git', '.local'])
const inspected = '{{.Id}} {{index .Config.Labels "com.docker.compose.service"}} {{.RestartCount}} {{json .State}}'

/**
 * Settings of the rehearsal: its users never rest, so they exceed a deployment's limits, and every container is killed
 * in turn, after which it waits for rechecks.
 */
const settings = {
  PROVIDER_REQUESTS_PER_MINUTE: '60000',
  RPC_REQUESTS_PER_SECOND: '100000',
  RPC_ETH_CALLS_PER_SECOND: '100000',
  RATE_LIMIT_PUBLIC_PER_MINUTE: '600000',
  RATE_LIMIT_SIGNED_PER_MINUTE: '600000',
  RECHECK_AFTER_MS: '8000',
  RECHECK_EVERY_MS: '2000',
}

export function layStack(engine: Engine): ComposeStack {
  const dir = join(engine.dir, 'repository')
  rmSync(dir, { recursive: true, force: true })
  cpSync(repositoryDir, dir, {
    recursive: true,
    filter: (path) => !left.has(path.slice(repositoryDir.length + 1)),
  })
  const infra = join(dir, 'infra')
  const { gateway } = composeStackFile()
  const ports = Object.entries(process.env).flatMap(([name, value]) =>
    /^(?:GATEWAY|SANDBOX|CHAIN)_PORT$/.test(name) && value ? [[name, value] as const] : [],
  )
  const compose: ComposeStack['compose'] = (args, env = {}) =>
    engine.docker(['compose', ...args], { cwd: infra, env: { ...Object.fromEntries(ports), ...settings, ...env } })
  const containers = async (project = 'ausd-local') => {
    const filter = `label=com.docker.compose.project=${project}`
    const ids = (await engine.docker(['ps', '-aq', '--no-trunc', '--filter', filter])).text
    if (ids.trim() === '') return []
    const { text } = await engine.docker(['inspect', '-f', inspected, ...ids.trim().split('\n')])
    return text.trim().split('\n').map(containerOf)
  }
  const isWell = async () => {
    const all = await containers()
    const fine = all.every(({ running, exitCode, health }) =>
      running ? health === 'healthy' || health === '-' : exitCode === 0,
    )
    const lasting = all.filter(({ running }) => running).length
    if (!fine || lasting < expected) return false
    return (await fetch(`${gateway}/ready`, { signal: AbortSignal.timeout(2_000) })).ok
  }
  const allWell = async (withinMs = 90_000) => {
    const startedAt = Date.now()
    await waitUntil('all containers becoming healthy', isWell, withinMs, 300)
    return Date.now() - startedAt
  }
  return { dir, compose, containers, gateway, allWell }
}

type State = { Running: boolean; ExitCode: number; Pid: number; Health?: { Status: string } }

function containerOf(line: string): Container {
  const [, id = '', service = '', restarts, json = ''] = /^(\S+) (\S+) (\d+) (.*)$/.exec(line) ?? []
  const { Running, ExitCode, Pid, Health } = JSON.parse(json) as State
  return {
    id,
    service,
    running: Running,
    exitCode: ExitCode,
    health: Health?.Status ?? '-',
    restarts: Number(restarts),
    pid: Pid,
  }
}
