import type { Env } from '#infra/local/environment'
import type { StackOptions } from '#infra/local/stack'
import { serviceNames } from '#shared/messages/topic'
import { quickChecks } from '../../../support/settings'

/** Settings of a path that differ from those of the others. */
export type Terms = {
  readonly payouts?: Env
  readonly holdSeconds?: number
  /** Time in seconds in which a debt is due. It may be repaid automatically from half of it on. */
  readonly termSeconds?: number
}

/** Usual hold in seconds, which fits within a trial and leaves time for a kill before its last check. */
const usualHoldSeconds = 5

const quickEnv = {
  gateway: { IDENTITY_RECHECK_OPEN_MS: '1000', REMINDERS_EVERY_MS: '1000' },
  // A quote is requested before its item starts and must outlive restarts.
  pricing: { QUOTE_TTL_MS: '300000' },
  'chain-relayer': {},
  'indexer-reader': {},
  payments: { ...quickChecks.payments, HOLD_MARGIN_MS: '2000', RECHECK_AFTER_MS: '1500' },
  payouts: {
    ...quickChecks.payouts,
    RECHECK_AFTER_MS: '1500',
  },
  sandbox: { ...quickChecks.sandbox, PAYOUT_SETTLE_MS: '300' },
}

/** Settings in which payouts reads the list before it asks for a payout. */
export const listFirst: Terms = { payouts: { LIST_EVERY_MS: '300', RECHECK_AFTER_MS: '5000' } }

/** Returns the options of a stack whose services all read their failpoints from one file. */
export function stackOptionsOf(terms: Terms, failpointFile: string): Partial<StackOptions> {
  const envOf = (name: keyof typeof quickEnv) => ({
    ...quickEnv[name],
    ...(name === 'payouts' ? terms.payouts : {}),
  })
  const armed = (name: (typeof serviceNames)[number]) =>
    [name, { ...envOf(name), FAILPOINT_FILE: failpointFile }] as const
  const { holdSeconds = usualHoldSeconds, termSeconds } = terms
  return {
    terms: { ...(termSeconds && { termSeconds }), holdSeconds, minCycleSeconds: 0 },
    env: { ...Object.fromEntries(serviceNames.map(armed)), sandbox: envOf('sandbox') },
    restMaxMs: 100,
    ackWaitMs: 4_000,
    proxied: true,
  }
}
