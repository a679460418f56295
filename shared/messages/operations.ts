import { type Static, Type } from 'typebox'
import { question } from '#shared/messages/topic'

/** Token of the operator, which the gateway passes on and `operations` checks again. */
const token = { token: Type.String({ maxLength: 500 }) }

/** JSON that only the console's page reads. A refusal of `token` means that `operations` has another one. */
const Shown = Type.Union([
  Type.Object({ shown: Type.Unknown() }),
  Type.Object({ fault: Type.Enum(['token', 'unreadable']) }),
])
export type Shown = Static<typeof Shown>

const asked = { answer: Shown, repeat: 'changes nothing' } as const

/** Reads an item by any of its ids. */
export const ConsoleItem = question('operations.console.item', 'operations', ['gateway'], {
  request: Type.Object({ ...token, id: Type.String({ minLength: 1, maxLength: 300 }) }),
  ...asked,
})

const Typed = Type.Optional(Type.String({ minLength: 1, maxLength: 100 }))

/** Finds payments, cash-outs and sends by what an operator typed. What is wrong with it is part of the answer. */
export const ConsoleFind = question('operations.console.find', 'operations', ['gateway'], {
  request: Type.Object({
    ...token,
    search: Type.Object({
      amount: Typed,
      currency: Typed,
      from: Typed,
      to: Typed,
      when: Typed,
      kind: Typed,
      state: Typed,
      channel: Typed,
      wallet: Typed,
      receipt: Typed,
      digits: Typed,
    }),
  }),
  ...asked,
})

export const ConsoleAttention = question('operations.console.attention', 'operations', ['gateway'], {
  request: Type.Object(token),
  ...asked,
})

/** Keeps the live feed going for `feedLeaseMs`. With `recent`, it returns the last messages and the overview. */
export const ConsoleWatch = question('operations.console.watch', 'operations', ['gateway'], {
  request: Type.Object({ ...token, recent: Type.Boolean() }),
  ...asked,
})

/** Reads which dependencies have stored nothing lately, although they may respond: `postgres`, or a stream. */
export const HeartbeatsMissed = question('operations.heartbeats', 'operations', ['gateway'], {
  request: Type.Object({}),
  answer: Type.Object({ missed: Type.Array(Type.String()) }),
  repeat: 'changes nothing',
})

export const feedLeaseMs = 20_000

/** Subject of the server-sent events that the gateway passes on to the open pages. */
export const feedSubject = 'operations.console.feed'

export type FeedEvent = { readonly event: 'motion' | 'overview'; readonly data: unknown }
/** The last events, and in `deaf` the reason why no messages are received, or null. */
export type Recent = { readonly events: readonly FeedEvent[]; readonly deaf: string | null }
