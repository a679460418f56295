import { countDead } from '#shared/db/dead-letter.store'
import type { Database } from '#shared/db/open'
import { outboxLag } from '#shared/db/outbox.store'
import { countIdentities } from '../identity/identity.store.ts'
import { countRechecks } from '../identity/recheck.store.ts'
import { deadLetters, outbox } from '../schema.store.ts'

/** The gateway's own true figures: what waits, what died, who is verified, who is asked about. */
export const openFigures = (database: Database) => async () => {
  const [outboxFigures, dead, identities, rechecks] = await Promise.all([
    outboxLag(database, outbox),
    countDead(database, deadLetters),
    countIdentities(database),
    countRechecks(database),
  ])
  return {
    outbox: outboxFigures,
    deadLetters: dead,
    identities: identities[0] ?? {},
    identityRechecks: rechecks[0] ?? {},
  }
}
