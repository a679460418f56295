import { listInFlight } from '#infra/ops/in-flight'
import { auditorDatabaseUrl } from '#infra/ops/place'
import { withDatabase } from '#infra/ops/stack'
import type { Verb } from '#infra/ops/verb'

/** Says whether money is moving. Reads, and changes nothing. */
export const status: Verb = {
  does: 'is money moving: what is under way, and since when',
  run: async (_words, say) => {
    const found = await withDatabase(auditorDatabaseUrl(), listInFlight)
    const byState = Map.groupBy(found, ({ what, state }) => `${what} ${state}`)
    say([...byState].map(([state, { length }]) => `${length} ${state}`).join('\n') || 'nothing')
    return 0
  },
}
