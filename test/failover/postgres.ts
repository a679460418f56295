import { expecting, seconds, step } from '#infra/compose/rehearse/report'
import type { Death } from '#infra/local/supervisor'
import { pause } from '#shared/deadline'
import { type PostgresPair, startPostgresPair } from '../support/engines/postgres-pair'
import { ownStack } from '../support/stack'
import { endOfLoad } from './closing'
import { type Load, startLoad } from './load'

/** What was confirmed just before the standby fell silent may still be answered for so long. */
const underWayMs = 1_000
/** Shorter than any call of a service may take: nobody gives up. */
const silentMs = 4_000

/**
 * A primary that confirms nothing without its standby. The standby falls silent; the primary is killed
 * under load and the standby takes its place, twice, so that both hosts of the URL were both.
 */
export async function postgresFailover(): Promise<void> {
  const deaths: Death[] = []
  await using pair = await startPostgresPair({ durable: true })
  await using stack = await ownStack({
    own: { DATABASE_URL: pair.adminUrl },
    onDeath: (death) => void deaths.push(death),
  })
  const load = await startLoad(stack)
  await step(
    'a primary and a standby that confirms',
    async () => `a payment was credited after ${seconds(await load.nextCredited())}`,
    { vital: true },
  )
  await step('the standby falls silent', () => silence(pair, load))
  await step('the primary is killed', () => replacePrimary(pair, load))
  await step('a new standby follows', () => attach(pair, load))
  await step('the primary is killed again', () => replacePrimary(pair, load))
  await endOfLoad(stack, load, deaths)
}

/** Nothing may be promised that only one machine has: a promise waits for the standby. */
async function silence(pair: PostgresPair, load: Load): Promise<string> {
  await pair.suspendStandby()
  await pause(underWayMs)
  const before = load.promised.length
  await pause(silentMs - underWayMs)
  const promised = load.promised.length - before
  pair.resumeStandby()
  const creditedMs = await load.nextCredited()
  expecting(promised === 0, `${promised} payments were promised that one machine alone knew`)
  return `nothing was promised for ${seconds(silentMs)}; a payment was credited ${seconds(creditedMs)} after its return`
}

/** The primary dies with all that it wrote, and whoever watches promotes the standby. */
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
  return `from nothing, within ${seconds(Date.now() - startedAt)}; ${load.since(startedAt)}`
}
