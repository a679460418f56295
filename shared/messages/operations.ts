import { type Static, Type } from 'typebox'
import { question } from '#shared/messages/topic'

/** The operator's token, which the gateway passes on and `operations` checks again. */
const token = { token: Type.String({ maxLength: 500 }) }

/**
 * Data for the console's page as JSON; only the page reads it. `fault`: the token is not the one that
 * `operations` knows, or the rows cannot be read.
 */
const Shown = Type.Union([
  Type.Object({ shown: Type.Unknown() }),
  Type.Object({ fault: Type.Enum(['token', 'unreadable']) }),
])
export type Shown = Static<typeof Shown>

const asked = { answer: Shown, repeat: 'changes nothing' } as const

/** The timeline of an item, by any of its ids. */
export const ConsoleItem = question('operations.console.item', 'operations', ['gateway'], {
  request: Type.Object({ ...token, id: Type.String({ minLength: 1, maxLength: 300 }) }),
  ...asked,
})

/** Everything that needs an operator. */
export const ConsoleAttention = question(
  'operations.console.attention',
  'operations',
  ['gateway'],
  { request: Type.Object(token), ...asked },
)

/**
 * Keeps the live feed going for `feedLeaseMs`. If `recent` is set, the answer has the last
 * messages and the last overview.
 */
export const ConsoleWatch = question('operations.console.watch', 'operations', ['gateway'], {
  request: Type.Object({ ...token, recent: Type.Boolean() }),
  ...asked,
})

export const feedLeaseMs = 20_000

/** Subject of the live feed: server-sent events that the gateway passes on to the open pages. */
export const feedSubject = 'operations.console.feed'

/** An event of the live feed. */
export type FeedEvent = { readonly event: 'motion' | 'overview'; readonly data: unknown }
/** Answer to `ConsoleWatch`. `deaf`: why no messages are heard, or null. */
export type Recent = { readonly events: readonly FeedEvent[]; readonly deaf: string | null }
