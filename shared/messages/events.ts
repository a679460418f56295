import { Type } from 'typebox'
import { CommandOutcome, operatorCommandFields } from '#shared/messages/operator-commands'
import { question } from '#shared/messages/topic'

/** Subject on which instances of the gateway name wallets that have something new. It is in no stream. */
export const newsSubject = 'gateway.news'

/** Sends a stored event to the integrator's endpoint once more, under its id. Each call is a call of its own. */
export const EventResend = question('gateway.events.resend', 'gateway', ['ops'], {
  request: Type.Object({
    ...operatorCommandFields,
    /** Place of the event in the stream `EVENTS`. */
    sequence: Type.Integer({ minimum: 1 }),
  }),
  answer: CommandOutcome,
  gives: 'nothing',
})

/** Returns the `webhook-id` of a stored event, which is the same in each delivery. */
export const webhookIdOf = ({ messageId, seq }: { readonly messageId: string; readonly seq: number }): string =>
  // A header may contain nothing else.
  /^[\x21-\x7e]{1,256}$/.test(messageId) ? messageId : `EVENTS:${seq}`

/** An event that was not taken, the reason, and the time of its next attempt, in ISO 8601. The gateway reports it with its figures. */
export type RefusedEvent = { readonly sequence: number; readonly why: string; readonly retryAt: string }
