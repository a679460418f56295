import { handle } from '#platform/bus/handling'
import { relayOutbox } from '#platform/bus/outbox-relay'
import type { Context } from '../../../services/gateway/context'
import { autoRepayReactions } from '../../../services/gateway/reminders/auto-repay'
import { startReminding } from '../../../services/gateway/reminders/remind'
import { gatewayMessaging } from '../../../services/gateway/schema.store'
import { askerOf, type Copy, commonOf, type Surroundings } from './services'
import type { Process } from './world'

/** Intervals in ms, so short because debts are due within a minute here. */
const config = { remindersEveryMs: 4_000, recheckAfterMs: 6_000 }

/** Starts the part of the gateway that looks at debts: it sends reminders and orders automatic repayments. */
export function startGateway(around: Surroundings, process: Process): Copy {
  const { broker } = around
  const { database, bus, log, clock } = commonOf(around, process)
  const { poke } = relayOutbox({ bus, database, outbox: gatewayMessaging.outbox, log })
  const ask = askerOf(around, process)
  const users = { find: async () => undefined }
  startReminding({ ask, clock, database, log, poke, users, config } as unknown as Context)
  const handling = {
    consumer: 'gateway',
    database,
    messaging: gatewayMessaging,
    reactions: autoRepayReactions({ clock, log }),
    log,
    poke,
  }
  broker.read('gateway', { process, handle: (message) => handle(handling, message) })
  return { process, answers: [] }
}
