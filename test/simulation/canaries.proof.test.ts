import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Copy, copySources } from '../support/canary'

let copy: Copy
beforeAll(() => {
  copy = copySources()
})
afterAll(() => copy?.[Symbol.dispose]())

const random = ['--flows', '4000', '--once']
const orderTwice = ['--walk', 'one refused']

test.each([
  ['outbox', 'noted as sent before the broker confirmed', random, 'is noted as published'],
  ['relayer', 'a cancelled transfer taken for one that was done', random, 'AUSD in the treasury, not'],
  ['payouts', 'a refusal believed too early', orderTwice, 'given back, and the bank pays'],
] as const)(
  'the simulation finds the planted defect in %s: %s',
  async (name, _, args, finding) => {
    copy.apply(name)
    const { code, out } = await copy.run('test/simulation/simulate.ts', ...args)
    copy.takeBack(name)
    expect(out).toContain(finding)
    expect(out).toContain(args === random ? 'Shortest failing story:' : 'relay.take is done on the chain')
    expect(code).toBe(1)
  },
  600_000,
)
