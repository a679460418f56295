import { expecting, seconds, step } from '#infra/compose/smoke-test/report'
import type { ProcessDeath } from '#infra/local/supervisor'
import { waitUntil } from '#infra/local/wait'
import { audit } from '../world/audit/audit'
import type { World } from '../world/drivers/stack'
import { entriesOf } from '../world/quiet'
import type { Load } from './load'

type Attempt = { status: number | null }

/** Ends the load and judges it: every accepted request has its outcome, and nothing is lost, doubled or unbalanced. */
export async function endOfLoad(world: World, load: Load, deaths: readonly ProcessDeath[]): Promise<void> {
  await step('no service restarted', async () => {
    const told = deaths.map(({ name, how }) => `${name} (${how})`)
    expecting(told.length === 0, told.join(', '))
    return 'none'
  })
  await step('the load ends and no request has failed', async () => {
    await load[Symbol.asyncDispose]()
    expecting(load.failures.length === 0, `request failed: ${load.failures[0]}`)
    return `${load.accepted().length} accepted requests`
  })
  await step('the audit finds nothing', async () => {
    const startedAt = Date.now()
    await findNothing(world, load)
    const endedMs = Date.now() - startedAt
    const entries = await Promise.all(load.people.map(entriesOf))
    const evidence = await world.evidence(load.record, entries.flat(), load.people)
    const { findings } = audit(evidence)
    expecting(findings.length === 0, findings.join('; '))
    const taken = evidence.book.webhooks!.filter(({ attempts }) =>
      attempts.some(({ status }: Attempt) => status === 200),
    )
    const messages = evidence.database.stored.filter(({ stream }) => stream === 'WEBHOOKS').length
    expecting(messages >= taken.length, `only ${messages} of ${taken.length} webhook deliveries are stored`)
    return `after ${seconds(endedMs)}; ${evidence.database.published.length} messages and ${taken.length} webhook deliveries are stored`
  })
}

/** Waits until the audit, without streams, books and texts, has no findings. Throws its findings after the deadline. */
export async function findNothing(world: World, { people, record }: Pick<Load, 'people' | 'record'>): Promise<void> {
  let findings: readonly string[] = []
  const look = async () => {
    const entries = await Promise.all(people.map(entriesOf))
    findings = audit(await world.evidence(record, entries.flat())).findings
    return findings.length === 0
  }
  await waitUntil('the audit to find nothing', look, 90_000, 300).catch(() => {})
  expecting(findings.length === 0, findings.join('; '))
}
