import { beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readAlerts } from '#infra/documents/blocks'
import { freePort } from '#infra/local/ports'
import type { RunningStack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { beginPaths, pathsCostMicro, pathsEnding } from '../support/money-paths'
import { verifiedUser } from '../support/people'
import { sharedStack } from '../support/stack'
import { scrape } from '../support/telemetry/metrics'
import {
  absent,
  alertsDir,
  findProgram,
  measuresIn,
  readQueries,
} from '../support/telemetry/prometheus'

let stack: RunningStack
beforeAll(async () => {
  stack = await sharedStack()
  const person = await verifiedUser(stack, { ausdMicro: pathsCostMicro })
  await pathsEnding(person, await beginPaths(stack, person), 60_000)
})

/** Metrics that a stack without the books lacks. */
const isOfBooks = (name: string) => name.startsWith('ausd_books_')

test('every metric that a rule or the dashboard reads exists', async () => {
  const read = [...readAlerts(), ...readQueries()].flatMap(({ expr }) => measuresIn(expr))
  const wanted = [...new Set(read)].filter((name) => !isOfBooks(name))
  expect(wanted.length).toBeGreaterThan(25)
  const missing = async () => {
    const shown = new Set((await scrape(stack)).map(({ name }) => name))
    return wanted.filter((name) => !shown.has(name))
  }
  await waitUntil('all of them', async () => (await missing()).length === 0, 60_000).catch(() => {})
  expect(await missing()).toEqual([])
})

const prometheus = findProgram('prometheus')

describe.skipIf(!prometheus)(
  prometheus ? 'a Prometheus that scrapes' : `Prometheus (${absent})`,
  () => {
    test('accepts every metric, and every query of the dashboard and of the rules has series', async () => {
      const { run, ask } = await startPrometheus(prometheus!, stack.info.ops.gateway)
      try {
        await waitUntil(
          'several scrapes',
          async () => (await ask('count_over_time(up[1m])>4')).length > 0,
          60_000,
        )
        const queries = [
          ...readQueries(),
          ...readAlerts().map(({ alert, expr }) => ({
            title: alert,
            expr: withoutThreshold(expr),
          })),
        ].filter(({ expr }) => !measuresIn(expr).some(isOfBooks) && !expr.startsWith('absent('))
        const empty: string[] = []
        for (const { title, expr } of queries)
          if ((await ask(expr.replaceAll(/\[\d+m\]/g, '[1m]'))).length === 0) empty.push(title)
        expect(empty).toEqual([])
      } finally {
        run.kill('SIGTERM')
        await run.exited
      }
    })
  },
)

/** The left side of a rule: the series it reads, whether or not it fires, with all outcomes of a label. */
const withoutThreshold = (expr: string) =>
  expr
    .replace(/ (?:==|>|<) (?:on \(.*|[\d.e]+(?: \*.*)?)$/, '')
    .replaceAll(/(?:outcome|status|standing)=~?"[^"]*",?/g, '')

async function startPrometheus(program: string, gateway: string) {
  const dir = mkdtempSync(join(tmpdir(), 'prometheus-'))
  const port = await freePort()
  const { host } = new URL(gateway)
  writeFileSync(
    join(dir, 'prometheus.yaml'),
    JSON.stringify({
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
      rule_files: [join(alertsDir, 'rules.yaml')],
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
  const ask = async (query: string): Promise<unknown[]> => {
    const at = new URL(`http://127.0.0.1:${port}/api/v1/query`)
    at.searchParams.set('query', query)
    const { status, data, error } = (await (await fetch(at)).json()) as {
      status: string
      error?: string
      data: { result: unknown[] }
    }
    if (status !== 'success') throw new Error(`${query}: ${error}`)
    return data.result
  }
  return { run, ask }
}
