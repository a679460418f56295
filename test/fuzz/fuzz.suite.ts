import { beforeAll, expect, test } from 'bun:test'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { groupStack } from '../runner/group'
import { expectNothingWritten } from '../support/database'
import { verifiedUser } from '../support/people'
import { readOperations } from './document'
import { fuzz } from './fuzz'

const seed = Number(process.env.FUZZ_SEED ?? 20_261_122)
let stack: Stack
let person: Person
beforeAll(async () => {
  stack = groupStack()
  person = await verifiedUser(stack)
})

test('the fuzzer finds a response that differs from the document', async () => {
  const operations = await readOperations(stack.info.gateway)
  const quote = operations.find(({ method, path }) => method === 'POST' && path === '/quote')!
  const answer = await person.quote('USD/IDR')
  expect(quote.fits(200)!(answer)).toBe(true)
  expect(quote.fits(200)!({ ...answer, rate: 16_250 })).toBe(false)
  expect(quote.fits(200)!({})).toBe(false)
  expect(quote.fits(418)).toBeUndefined()
})

test('the fuzzer tolerates a short 503, and reports a service that had to be restarted', async () => {
  const { pid } = stack.info.services.pricing!
  process.kill(pid, 'SIGSTOP')
  const { promise: isLate, resolve: onLate } = Promise.withResolvers<void>()
  const late = fuzz(stack, person, { requests: 100, seed, onLate })
  await isLate
  process.kill(pid, 'SIGCONT')
  const { findings, statuses } = await late
  expect(findings).toEqual([])
  expect([...statuses.keys()].filter((what) => what.endsWith('after retries'))).not.toEqual([])

  const stopped = fuzz(stack, person, { requests: 100, seed })
  process.kill(pid, 'SIGKILL')
  expect((await stopped).findings).toEqual(['pricing was restarted'])
})

test(`security: 500 requests generated from the document cause no 5xx and no undocumented response (seed ${seed})`, async () => {
  const { findings, statuses, asked } = await fuzz(stack, person, { requests: 500, seed })
  console.log(
    [...statuses]
      .sort()
      .map(([what, count]) => `${what}: ${count}`)
      .join(', '),
  )
  expect(asked).toBe(500)
  expect(findings).toEqual([])
})

test('security: refused requests write nothing', () =>
  expectNothingWritten(stack, async () => {
    // Webhooks are always recorded, so they are left out.
    const { findings } = await fuzz(stack, person, {
      requests: 200,
      seed: seed + 1,
      without: '/webhooks',
    })
    expect(findings).toEqual([])
  }))
