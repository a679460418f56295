import { expect, test } from 'bun:test'
import { counter, quickSeconds, registry, timer } from '#platform/metrics/measures'
import { samplesIn } from '#test/support/telemetry/metrics'

const samples = async (name: string) => samplesIn(await registry.metrics()).filter((sample) => sample.name === name)

test('security: a label with unlimited values becomes one series', async () => {
  const labels = { route: { atMost: 3 }, method: ['GET', 'POST'] } as const
  const asked = timer({ what: 'test_bounded', help: 'x', labels, buckets: quickSeconds })
  const fallen = counter({ what: 'test_fallen', help: 'x', labels: { of: { atMost: 2 } } })
  for (let at = 0; at < 1_000; at++) {
    asked.seconds(0.001, { route: `/verify/0x${at}`, method: `M${at % 7}` })
    fallen({ of: crypto.randomUUID() })
  }
  asked.seconds(0.001, { route: '/verify/0x1', method: 'GET' })
  const counted = await samples('ausd_test_bounded_seconds_count')
  expect(counted.map(({ labels }) => `${labels.method} ${labels.route}`).sort()).toEqual([
    'GET /verify/0x1',
    'other /verify/0x0',
    'other /verify/0x1',
    'other /verify/0x2',
    'other other',
  ])
  const fallenSeries = await samples('ausd_test_fallen_total')
  expect(fallenSeries).toHaveLength(3)
  expect(fallenSeries.find(({ labels }) => labels.of === 'other')?.value).toBe(998)
})

test('a duration is counted in its buckets, in seconds', async () => {
  const took = timer({ what: 'test_took', help: 'x', labels: { kind: ['a'] }, buckets: [0.1, 1] })
  took.seconds(0.5, { kind: 'a' })
  took.since(performance.now() - 2_000, { kind: 'a' })
  const buckets = await samples('ausd_test_took_seconds_bucket')
  expect(buckets.map(({ labels, value }) => [labels.le, value])).toEqual([
    ['0.1', 0],
    ['1', 1],
    ['+Inf', 2],
  ])
})

test('a timer whose labels are closed lists begins at 0, so that its first observation is an increase', async () => {
  const labels = { kind: ['a', 'b'], held: ['yes', 'no'] } as const
  timer({ what: 'test_closed', help: 'x', labels, buckets: [0.1] })
  timer({ what: 'test_open', help: 'x', labels: { kind: { atMost: 2 } }, buckets: [0.1] })
  const counts = await samples('ausd_test_closed_seconds_count')
  expect(counts.map(({ labels: { kind, held }, value }) => [kind, held, value])).toEqual([
    ['a', 'yes', 0],
    ['a', 'no', 0],
    ['b', 'yes', 0],
    ['b', 'no', 0],
  ])
  expect(await samples('ausd_test_open_seconds_count')).toEqual([])
})
