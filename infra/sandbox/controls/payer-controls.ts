import { currencyOf } from '../account'
import { findChannel, payableChannels } from '../channels/channels'
import type { Context } from '../context'
import type { JsonObject } from '../json'
import { formatMoney } from '../money'
import { authorizeRequest, captureRequest, expireSession, failRequest, openRequest } from '../provider/payer'
import { paymentBody, paymentRequestBody } from '../provider/payment'
import { sessionBody } from '../provider/session'
import type { PaymentRequest, PaymentSession } from '../records'
import { amountMinorOf } from './amounts'
import { type Control, optionalText, Refusal } from './control'

export const payerControls = (context: Context): Control[] => [
  {
    method: 'POST',
    path: '/control/sessions/:id/pay',
    run(id, body) {
      // A session can be paid after its end too: a bank settles late, or the payer kept the code. One that is paid can be
      // paid again, through a payment request of its own.
      const paid = body.force === true ? (['COMPLETED'] as const) : []
      const session = sessionIn(context, id, ['ACTIVE', 'EXPIRED', 'CANCELED', ...paid])
      const capturedMinor = amountMinorOf(body, session.account, session.amountMinor)
      const request = shownRequest(context, session) ?? choose(context, session, body)
      return paymentBody(captureRequest(context, request, capturedMinor, optionalText(body, 'sender') ?? undefined))
    },
  },
  {
    method: 'POST',
    path: '/control/sessions/:id/choose',
    run: (id, body) => paymentRequestBody(choose(context, sessionIn(context, id, ['ACTIVE']), body)),
  },
  {
    method: 'POST',
    path: '/control/sessions/:id/authorize',
    run: (id, body) =>
      paymentBody(authorizeRequest(context, choose(context, sessionIn(context, id, ['ACTIVE']), body))),
  },
  {
    method: 'POST',
    path: '/control/sessions/:id/fail',
    run(id, body) {
      const failureCode = optionalText(body, 'failure_code') ?? 'USER_DECLINED_PAYMENT'
      const request = choose(context, sessionIn(context, id, ['ACTIVE']), body)
      return paymentBody(failRequest(context, request, failureCode))
    },
  },
  {
    method: 'POST',
    path: '/control/sessions/:id/expire',
    run: (id) => sessionBody(expireSession(context, sessionIn(context, id, ['ACTIVE'])), context.publicUrl),
  },
]

function sessionIn({ book }: Context, id: string, states: PaymentSession['status'][]): PaymentSession {
  const session = book.get('sessions', id) ?? book.find('sessions', (s) => s.referenceId === id)
  if (!session) throw new Refusal(404, 'no such session')
  if (states.includes(session.status)) return session
  throw new Refusal(409, `the session is ${session.status}`)
}

// Returns the payment request that the payer saw before the session ended.
function shownRequest({ book }: Context, session: PaymentSession): PaymentRequest | undefined {
  const request = session.requestId ? book.get('requests', session.requestId) : undefined
  if (session.status === 'ACTIVE' || request?.latestPaymentId) return undefined
  return request
}

function choose(context: Context, session: PaymentSession, body: JsonObject): PaymentRequest {
  if (session.status === 'CANCELED' && body.force !== true) {
    throw new Refusal(409, 'the session is CANCELED without a code (force: true pays it anyway)')
  }
  const payable = payableChannels(session).map(({ code }) => code)
  const code = optionalText(body, 'channel_code') ?? payable[0]
  if (code === undefined) throw new Refusal(400, 'no channel accepts this amount')
  if (!payable.includes(code) && body.force !== true) {
    throw new Refusal(400, `${code} cannot pay this session${limitText(session, code)} (force: true pays it anyway)`)
  }
  const open = session.requestId ? context.book.get('requests', session.requestId) : undefined
  const isOpen = open?.status === 'ACCEPTING_PAYMENTS' || open?.status === 'REQUIRES_ACTION'
  if (open && isOpen && open.channelCode === code) return open
  const request = openRequest(context, session, code)
  if (session.status !== 'EXPIRED') return request
  // The request was opened only for the late payment, so it expires like its session.
  return context.book.save('requests', { ...request, status: 'EXPIRED' })
}

/** Returns the limits of a channel, such as `: it takes Rp 10.000 to Rp 50.000.000`. Empty if there is no such channel. */
function limitText({ account }: PaymentSession, code: string): string {
  const channel = findChannel(account, code)
  if (!channel) return ''
  const [least, most] = [channel.minMinor, channel.maxMinor].map(
    (minor) => minor && formatMoney(minor, currencyOf[account]),
  )
  return `: it takes ${most ? `${least} to ${most}` : `at least ${least}`}`
}
