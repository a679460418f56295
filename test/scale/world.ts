import { expect } from 'bun:test'
import { outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import type { Stack, StackOptions } from '#infra/local/stack'
import { expectOnceEach, type Flow } from '../support/flows'
import { verifiedUsers } from '../support/people'
import { openCopies } from '../world/drivers/stack'
import type { CallResult } from './load'

export type World = AsyncDisposable & {
  readonly stack: Stack
  readonly outside: ReturnType<typeof outsideOf>
  readonly people: readonly Person[]
}

/** AUSD (10⁻⁶) of each user at the start, enough for a whole suite. */
const startMicro = 500_000_000n

export async function openWorld(peopleMax: number, options: Partial<StackOptions> = {}): Promise<World> {
  const copies = await openCopies(options)
  const { stack, info } = copies
  const { dir, adminUrl } = stack
  const people = await verifiedUsers({ info, dir, adminUrl }, peopleMax, { ausdMicro: startMicro })
  return {
    stack,
    people,
    outside: outsideOf(info),
    [Symbol.asyncDispose]: () => copies[Symbol.asyncDispose](),
  }
}

export const failuresOf = (seen: readonly CallResult[]): string[] =>
  seen.filter(({ status }) => status !== 200).map(wordsOf)

const wordsOf = ({ path, status, tookMs, said }: CallResult) => `${path} ${status} ${tookMs} ms ${said}`

export function tellOf(seen: readonly CallResult[]): string {
  const took = seen.map(({ tookMs }) => tookMs).sort((left, right) => left - right)
  const at = (part: number) => took[Math.min(took.length - 1, Math.floor(part * took.length))]
  return `${seen.length} requests, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, slowest ${at(1)} ms`
}

/** Expects that these flows took effect once each, and that the bank got no other request. */
export async function expectExactly({ stack, outside }: World, flows: readonly Flow[]) {
  await expectOnceEach(stack, flows)
  const { payouts } = await outside.book()
  expect(payouts).toHaveLength(flows.filter(({ kind }) => kind === 'cashout').length)
}
