import { expect, test } from 'bun:test'
import { labelExposition, mergeExpositions } from '#platform/metrics/exposition'
import { gauge, seconds, textOf, total } from '#platform/metrics/metric'
import { samplesIn } from '#test/support/telemetry/metrics'

const text = `# HELP a Of {"x"} 1
# TYPE a histogram
a_bucket{le="0.1"} 1
a_count 2

# TYPE b counter
b{says="a } in \\"quotes\\""} 3e-7`

test('labels come first in every sample, and nowhere else', () => {
  expect(labelExposition(text, { service: 'payments', copy: 'q"\\' })).toBe(`# HELP a Of {"x"} 1
# TYPE a histogram
a_bucket{service="payments",copy="q\\"\\\\",le="0.1"} 1
a_count{service="payments",copy="q\\"\\\\"} 2

# TYPE b counter
b{service="payments",copy="q\\"\\\\",says="a } in \\"quotes\\""} 3e-7`)
})

test('samples of several processes are grouped by metric under one heading', () => {
  const texts = ['one', 'two'].map((copy) => labelExposition(text, { copy }))
  const lines = mergeExpositions(texts).split('\n')
  expect(lines.filter((line) => line.startsWith('# TYPE'))).toEqual(['# TYPE a histogram', '# TYPE b counter'])
  const names = lines.flatMap((line) => /^([ab])/.exec(line)?.[1] ?? [])
  expect(names.join('')).toBe('aaaabb')
})

test('unknown values are omitted, ms become seconds, and counters are of type counter', async () => {
  const shown = await textOf([
    gauge('known', 'x', 0, { of: 'a' }),
    gauge('known', 'x', 2, { of: 'b' }),
    gauge('unknown', 'x', null),
    seconds('age', 'x', 1_500),
    total('asked', 'x', 7),
  ])
  expect(samplesIn(shown)).toEqual([
    { name: 'ausd_known', labels: { of: 'a' }, value: 0 },
    { name: 'ausd_known', labels: { of: 'b' }, value: 2 },
    { name: 'ausd_age_seconds', labels: {}, value: 1.5 },
    { name: 'ausd_asked_total', labels: {}, value: 7 },
  ])
  expect(shown).toContain('# TYPE ausd_asked_total counter')
})
