import { expect, test } from 'bun:test'
import { runCampaign } from './campaign'
import { readOptions } from './options'
import { reportText } from './report'

/** The order of faults; `CAMPAIGN_SEED` takes another, as the report of a failure names it. */
const seed = process.env.CAMPAIGN_SEED ?? '7'

test('after a minute of kills, pauses, cut wires and lies nothing is lost, doubled or unexplained', async () => {
  const words = ['--seed', seed, '--minutes', '1', '--people', '10']
  const report = await runCampaign({ ...readOptions(words), upgradeFrom: null }, () => {})
  console.log(reportText(report))
  expect(report.verdict.findings).toEqual([])
  expect(report.breaks).toEqual([])
  expect(report.announced.missing).toEqual([])
  expect(report.leaks.found).toEqual([])
  // A minute in which nothing went wrong, or nobody did anything, proves nothing.
  const kinds = new Set(report.happened.map(({ kind }) => kind))
  expect([...kinds].sort()).toEqual(['chain', 'kill', 'network', 'pause', 'provider', 'webhooks'])
  expect(report.verdict.counted['payments that arrived']).toBeGreaterThan(3)
  expect(report.announced.noted).toBeGreaterThan(20)
}, 420_000)
