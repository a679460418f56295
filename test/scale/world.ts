import { expect } from 'bun:test'
import { generatePrivateKey } from 'viem/accounts'
import { outsideOf } from '#infra/demo/outside'
import type { Person } from '#infra/demo/person'
import { personOf } from '#infra/demo/person'
import type { Stack, StackOptions } from '#infra/local/stack'
import { creditsOf, transfersOf } from '../support/ledger'
import { fund } from '../support/people'
import { ownStack, quickChecks } from '../support/stack'
import { openBalancer } from './balancer'
import type { Promised, Seen } from './load'

export type World = AsyncDisposable & {
  readonly stack: Stack
  readonly outside: ReturnType<typeof outsideOf>
  readonly people: readonly Person[]
}

/** AUSD 10⁻⁶, enough for a whole suite. */
const startMicro = 500_000_000n

/** `info` has the load balancer's address. `options.env` overrides the suites' defaults. */
export async function openCopies(options: Partial<StackOptions> = {}) {
  const balancer = openBalancer()
  const env = {
    ...quickChecks,
    gateway: { DRAIN_MS: '1500' },
    ...options.env,
    sandbox: { ...(options.env?.sandbox ?? quickChecks.sandbox), GATEWAY_URL: balancer.url },
  }
  const stack = await ownStack({ copies: 2, ...options, env })
  balancer.spread(stack.gateways)
  return {
    stack,
    info: { ...stack.info, gateway: balancer.url },
    [Symbol.asyncDispose]: async () => {
      await stack[Symbol.asyncDispose]()
      await balancer[Symbol.asyncDispose]()
    },
  }
}

export async function openWorld(
  peopleMax: number,
  options: Partial<StackOptions> = {},
): Promise<World> {
  const copies = await openCopies(options)
  const { stack, info } = copies
  const outside = outsideOf(info)
  const people: Person[] = []
  for (let index = 0; index < peopleMax; index++) {
    const person = personOf(info, generatePrivateKey())
    await fund(stack, person.account.address, { ausdMicro: startMicro })
    await outside.identity(person.wallet, 'approved')
    people.push(person)
  }
  for (const person of people) await person.until('verification', (me) => me.verified, 60_000)
  return {
    ...{ stack, outside, people },
    [Symbol.asyncDispose]: () => copies[Symbol.asyncDispose](),
  }
}

export const failuresOf = (seen: readonly Seen[]): string[] =>
  seen.filter(({ status }) => status !== 200).map(wordsOf)

const wordsOf = ({ path, status, tookMs, said }: Seen) => `${path} ${status} ${tookMs} ms ${said}`

export function tellOf(seen: readonly Seen[]): string {
  const took = seen.map(({ tookMs }) => tookMs).sort((left, right) => left - right)
  const at = (part: number) => took[Math.min(took.length - 1, Math.floor(part * took.length))]
  return `${seen.length} requests, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, slowest ${at(1)} ms`
}

/** Chain events show that each top-up was credited once and each payout moved once. */
export async function expectOnceEach(world: World, promised: readonly Promised[]): Promise<void> {
  const { stack, people, outside } = world
  const of = (kind: Promised['kind']) => promised.filter((one) => one.kind === kind)
  for (const { id } of of('topup')) expect(await creditsOf(stack, id)).toHaveLength(1)
  for (const person of people) {
    const out = (await transfersOf(stack, person.wallet)).filter(
      ({ from }) => from === person.wallet,
    )
    const meant = [...of('cashout'), ...of('send')].filter((one) => one.person === person)
    expect(out).toHaveLength(meant.length)
  }
  const { payouts } = await outside.book()
  expect(payouts).toHaveLength(of('cashout').length)
}
