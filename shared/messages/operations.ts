import { type Static, Type } from 'typebox'
import { question } from '#shared/messages/topic'

/** Passed on by the gateway; `operations` checks it again. */
const token = { token: Type.String({ maxLength: 500 }) }

/** JSON that only the console's page reads. `token`: `operations` has another one. */
const Shown = Type.Union([
  Type.Object({ shown: Type.Unknown() }),
  Type.Object({ fault: Type.Enum(['token', 'unreadable']) }),
])
export type Shown = Static<typeof Shown>

const asked = { answer: Shown, repeat: 'changes nothing' } as const

/** By any of the item's ids. */
export const ConsoleItem = question('operations.console.item', 'operations', ['gateway'], {
  request: Type.Object({ ...token, id: Type.String({ minLength: 1, maxLength: 300 }) }),
  ...asked,
})

export const ConsoleAttention = question('operations.console.attention', 'operations', ['gateway'], {
  request: Type.Object(token),
  ...asked,
})

/** Keeps the live feed going for `feedLeaseMs`. With `recent`, returns the last messages and overview. */
export const ConsoleWatch = question('operations.console.watch', 'operations', ['gateway'], {
  request: Type.Object({ ...token, recent: Type.Boolean() }),
  ...asked,
})

export const feedLeaseMs = 20_000

/** Server-sent events that the gateway passes on to the open pages. */
export const feedSubject = 'operations.console.feed'

export type FeedEvent = { readonly event: 'motion' | 'overview'; readonly data: unknown }
/** `deaf`: why no messages are heard, or null. */
export type Recent = { readonly events: readonly FeedEvent[]; readonly deaf: string | null }
