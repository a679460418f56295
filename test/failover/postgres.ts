import { expecting, seconds, step } from '#infra/compose/smoke-test/report'
import type { ProcessDeath } from '#infra/local/supervisor'
import { pause } from '#platform/deadline'
import { type PostgresPair, startPostgresPair } from '../support/engines/postgres-pair'
import { openWorld } from '../world/drivers/stack'
import { endOfLoad } from './closing'
import { type Load, startLoad } from './load'

/** Time in ms in which responses confirmed before the standby was suspended may still arrive. */
const underWayMs = 1_000
/** Silence in ms, shorter than any service timeout, so that no request fails. */
const silentMs = 4_000

/**
 * Suspends the standby of a synchronous pair and kills the primary under load, twice, so that both hosts have been
 * primary.
 */
export async function postgresFailover(): Promise<void> {
  const deaths: ProcessDeath[] = []
  await using pair = await startPostgresPair({ durable: true })
  await using world = await openWorld('one', {
    own: { DATABASE_URL: pair.adminUrl },
    onDeath: (death) => void deaths.push(death),
  })
  const load = await startLoad(world)
  await step(
    'a primary with a synchronous standby',
    async () => `a payment was credited after ${seconds(await load.nextCredited())}`,
    { vital: true },
  )
  await step('the standby is suspended', () => silence(pair, load))
  await step('the primary is killed', () => replacePrimary(pair, load))
  await step('a new standby follows', () => attach(pair, load))
  await step('the primary is killed again', () => replacePrimary(pair, load))
  await endOfLoad(world, load, deaths)
}

/** Suspends the standby. No payment may be accepted until it resumes. */
async function silence(pair: PostgresPair, load: Load): Promise<string> {
  await pair.suspendStandby()
  await pause(underWayMs)
  const before = load.accepted().length
  await pause(silentMs - underWayMs)
  const promised = load.accepted().length - before
  pair.resumeStandby()
  const creditedMs = await load.nextCredited()
  expecting(promised === 0, `${promised} payments were accepted that only the primary had`)
  return `nothing was accepted for ${seconds(silentMs)}; a payment was credited ${seconds(creditedMs)} after it resumed`
}

async function replacePrimary(pair: PostgresPair, load: Load): Promise<string> {
  const killedAt = Date.now()
  await pair.killPrimary()
  await pair.promote()
  const promotedMs = Date.now() - killedAt
  const creditedMs = await load.nextCredited()
  return `promoted after ${seconds(promotedMs)}; ${load.since(killedAt)}; a payment was credited ${seconds(creditedMs)} later`
}

async function attach(pair: PostgresPair, load: Load): Promise<string> {
  const startedAt = Date.now()
  await pair.addStandby()
  return `created in ${seconds(Date.now() - startedAt)}; ${load.since(startedAt)}`
}
