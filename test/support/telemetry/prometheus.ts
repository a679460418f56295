import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repositoryDir } from '#infra/local/folders'
import { freePort } from '#infra/local/ports'

export const alertsDir = join(repositoryDir, 'infra/operations/alerts')

/**
 * Finds a program on the PATH, or below PROMETHEUS_DIR after `apt-get download prometheus && dpkg -x prometheus_*.deb
 * <folder>`.
 */
export function findProgram(name: 'prometheus' | 'promtool'): string | undefined {
  const unpacked = join(process.env.PROMETHEUS_DIR ?? '/nowhere', 'usr/bin', name)
  return existsSync(unpacked) ? unpacked : (Bun.which(name) ?? undefined)
}

export const absent = 'skipped: Prometheus not found, run apt-get install prometheus or set PROMETHEUS_DIR'

type Panel = { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }

/** Reads the queries of the dashboard with the titles of their panels. */
export const readQueries = (): { title: string; expr: string }[] => {
  const text = readFileSync(join(alertsDir, 'dashboard.json'), 'utf8')
  const { panels } = JSON.parse(text) as { panels: Panel[] }
  return panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })))
}

export const measuresIn = (expr: string): string[] => [...new Set(expr.match(/\b(?:ausd|process)_[a-z0-9_]+/g) ?? [])]

export type Prometheus = AsyncDisposable & {
  readonly ask: (query: string) => Promise<unknown[]>
  /** Returns the firing alerts, sorted. */
  readonly firing: () => Promise<string[]>
}

/** Interval of scrapes in seconds. A gateway waits 1 to 2 s for processes that do not respond. */
const everySeconds = 3

/** Starts Prometheus, by default with the product's rules. */
export async function startPrometheus(
  program: string,
  gateway: string,
  { rules = readFileSync(join(alertsDir, 'rules.yaml'), 'utf8') } = {},
): Promise<Prometheus> {
  const every = `${everySeconds}s`
  const dir = mkdtempSync(join(tmpdir(), 'prometheus-'))
  const port = await freePort()
  const { host } = new URL(gateway)
  writeFileSync(join(dir, 'rules.yaml'), rules)
  writeFileSync(
    join(dir, 'prometheus.yaml'),
    JSON.stringify({
      global: { scrape_interval: every, scrape_timeout: every, evaluation_interval: '1s' },
      rule_files: [join(dir, 'rules.yaml')],
      scrape_configs: [{ job_name: 'ausd', static_configs: [{ targets: [host] }] }],
    }),
  )
  const run = Bun.spawn(
    [
      program,
      `--config.file=${join(dir, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(dir, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdout: 'ignore', stderr: 'ignore' },
  )
  const ask = async <R>(path: string, parameters: Record<string, string> = {}): Promise<R> => {
    const at = new URL(`http://127.0.0.1:${port}/api/v1/${path}`)
    at.search = String(new URLSearchParams(parameters))
    const answer = await fetch(at, { signal: AbortSignal.timeout(10_000) })
    const said = (await answer.json()) as { status: string; error?: string; data: R }
    if (said.status !== 'success') throw new Error(`${path} ${at.search}: ${said.error}`)
    return said.data
  }
  type Active = { alerts: { state: string; labels: { alertname: string } }[] }
  return {
    ask: async (query) => (await ask<{ result: unknown[] }>('query', { query })).result,
    firing: async () => {
      const { alerts } = await ask<Active>('alerts')
      const names = alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname)
      return [...new Set(names)].sort()
    },
    [Symbol.asyncDispose]: async () => {
      run.kill('SIGTERM')
      await run.exited
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
