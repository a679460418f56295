import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryDir } from '#infra/local/folders'

/** Locations of the rules, their tests, the dashboard and the scrape configuration. */
export const alertsDir = join(repositoryDir, 'infra/operations/alerts')

/**
 * A program of Debian's package `prometheus`: on the PATH, or below the folder in PROMETHEUS_DIR,
 * into which `apt-get download prometheus && dpkg -x prometheus_*.deb <folder>` unpacks it.
 */
export function findProgram(name: 'prometheus' | 'promtool'): string | undefined {
  const unpacked = join(process.env.PROMETHEUS_DIR ?? '/nowhere', 'usr/bin', name)
  return existsSync(unpacked) ? unpacked : (Bun.which(name) ?? undefined)
}

/** Printed by a suite that cannot run Prometheus. */
export const absent =
  'skipped: Prometheus not found, run apt-get install prometheus or set PROMETHEUS_DIR'

type Panel = { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }

/** Every query of the dashboard, with its panel. */
export const readQueries = (): { title: string; expr: string }[] => {
  const text = readFileSync(join(alertsDir, 'dashboard.json'), 'utf8')
  const { panels } = JSON.parse(text) as { panels: Panel[] }
  return panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })))
}

/** Returns the metrics that a query reads. */
export const measuresIn = (expr: string): string[] => [
  ...new Set(expr.match(/\b(?:ausd|process)_[a-z0-9_]+/g) ?? []),
]
