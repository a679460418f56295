import type { HandlingContext } from '#platform/bus/handling'
import type { ConfigOf } from '#platform/config'
import { failpoint } from '#platform/failpoint'
import type { Loop } from '#platform/loop'
import { type fields, transfersLagBlocks } from './config'
import { type Context, newProcess } from './context'
import { policyOf } from './keys/policy'
import { startSearches } from './operations/authorization-search'
import { watchLateTakes } from './operations/late-takes'
import { orderReactions } from './operations/order'
import { startRelayLoop } from './relay-loop'
import { messaging } from './schema.store'

/** Settings of the service without its keys, by name of their variables in camel case. */
export type Config = Omit<ConfigOf<typeof fields>, 'laneKeys' | 'treasuryKey'>

/** The parts of the context that reach outside of the process or sign, and the clock. */
export type Means = Pick<
  Context,
  | 'database'
  | 'node'
  | 'contracts'
  | 'keys'
  | 'treasury'
  | 'account'
  | 'isAccepted'
  | 'copies'
  | 'log'
  | 'clock'
  | 'poke'
  | 'wake'
>

/** The context of a process that has just begun: it remembers nothing. */
export const assemble = (config: Config, means: Means): Context => ({
  ...means,
  policy: policyOf(config),
  settings: { transfersLagBlocks, ...config },
  readTurn: async () => {},
  ...newProcess(means.log, means.clock),
})

/** What the service does with the messages of the streams. */
export const messagesOf = (context: Pick<Context, 'database' | 'log' | 'wake' | 'poke'>): HandlingContext => ({
  consumer: 'chain-relayer',
  database: context.database,
  messaging,
  reactions: orderReactions,
  log: context.log,
  poke: () => {
    failpoint('chain-relayer:operation-stored')
    context.wake()
    context.poke()
  },
})

/** Starts the loops that execute operations and find how they ended. `poke` begins a round of the lanes. */
export function startLoops(context: Context, config: Config): Loop {
  const loops = new AsyncDisposableStack()
  const { poke } = loops.use(startRelayLoop(context, config.pollMs))
  loops.use(startSearches(context))
  loops.use(watchLateTakes(context, config.watchMs))
  return { poke, [Symbol.asyncDispose]: () => loops.disposeAsync() }
}
