import { beforeAll, describe, expect, test } from 'bun:test'
import type { RunningStack } from '#infra/local/stack'
import { ruled } from '#infra/operations/alerts/rules'
import { beginPaths, flowsEnding, pathsCostMicro } from '../support/flows'
import { verifiedUser } from '../support/people'
import { sharedStack } from '../support/stack'
import { scrape } from '../support/telemetry/metrics'
import { absent, findProgram, measuresIn, readQueries, startPrometheus } from '../support/telemetry/prometheus'
import { becomes, waitUntil } from '../support/wait'

let stack: RunningStack
beforeAll(async () => {
  stack = await sharedStack()
  const person = await verifiedUser(stack, { ausdMicro: pathsCostMicro })
  await flowsEnding(await beginPaths(stack, person))
})

/** Returns true for metrics of `operations`, which this stack does not run. */
const isOfOperations = (name: string) => /^ausd_(?:books|heartbeat)_/.test(name)

test('every metric that a rule or the dashboard reads exists', async () => {
  const read = [...ruled.map(({ rule }) => rule), ...readQueries()].flatMap(({ expr }) => measuresIn(expr))
  const wanted = [...new Set(read)].filter((name) => !isOfOperations(name))
  expect(wanted.length).toBeGreaterThan(25)
  const missing = async () => {
    const shown = new Set((await scrape(stack)).map(({ name }) => name))
    return wanted.filter((name) => !shown.has(name))
  }
  await waitUntil('all of them', async () => (await missing()).length === 0).catch(() => {})
  expect(await missing()).toEqual([])
})

const prometheus = findProgram('prometheus')

describe.skipIf(!prometheus)(prometheus ? 'a Prometheus that scrapes' : `Prometheus (${absent})`, () => {
  test('Prometheus accepts every metric, and every query of the dashboard and of the rules has series', async () => {
    await using running = await startPrometheus(prometheus!, stack.info.ops.gateway)
    const { ask } = running
    const queries = [
      ...readQueries(),
      ...ruled.map(({ name, rule }) => ({ title: name, expr: withoutThreshold(rule.expr) })),
    ].filter(({ expr }) => !measuresIn(expr).some(isOfOperations) && !expr.startsWith('absent('))
    const withoutSeries = async () => {
      const empty: string[] = []
      for (const { title, expr } of queries)
        if ((await ask(expr.replaceAll(/\[\d+m\]/g, '[1m]'))).length === 0) empty.push(title)
      return empty
    }
    await becomes(withoutSeries, [])
  })
})

/** Returns the series that a rule reads, whether or not it fires. */
const withoutThreshold = (expr: string) =>
  expr
    .replaceAll(/ (?:==|>|<) (?:on \(.*|[\d.e]+(?: \*.*)?)(?= and |$)/g, '')
    .replaceAll(/(?:outcome|status|standing)=~?"[^"]*",?/g, '')
