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
