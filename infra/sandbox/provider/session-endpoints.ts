import { type Context, nowText, planAt } from '../context'
import type { PaymentSession } from '../records'
import type { ProviderCall, ProviderEndpoint } from './endpoint'
import { expireSession } from './payer'
import { Problem } from './problem'
import { sessionBody } from './session'
import { sessionFromRequest } from './session-request'

export const sessionEndpoints: readonly ProviderEndpoint[] = [
  { method: 'POST', path: '/sessions', run: create },
  {
    method: 'GET',
    path: '/sessions/:id',
    run: (context, call) => ({ body: sessionBody(ownSession(context, call), context.publicUrl) }),
  },
  { method: 'POST', path: '/sessions/:id/cancel', run: cancel },
]

function create(context: Context, { account, body }: ProviderCall) {
  const session = context.book.save('sessions', sessionFromRequest(context, account, body))
  planExpiry(context, session)
  const shown = sessionBody(session, context.publicUrl)
  const isOther = context.chance.hits(context.faults.api.otherCheckout)
  return { status: 201, body: isOther ? { ...shown, amount: Number(shown.amount) / 10 } : shown }
}

// Cancels a session. There is no webhook, because the merchant itself cancelled.
function cancel(context: Context, call: ProviderCall) {
  const session = ownSession(context, call)
  if (session.status !== 'ACTIVE') {
    const message = `Session status is ${session.status}, expecting ACTIVE`
    throw new Problem('INVALID_SESSION_STATUS', message)
  }
  const cancelled = context.book.save('sessions', {
    ...session,
    status: 'CANCELED',
    updatedAt: nowText(context),
  })
  return { body: sessionBody(cancelled, context.publicUrl) }
}

function ownSession({ book }: Context, call: ProviderCall): PaymentSession {
  const session = book.get('sessions', call.id('session'))
  if (session?.account !== call.account) throw new Problem('NOT_FOUND', 'Session not found')
  return session
}

export function planExpiry(context: Context, { id, expiresAt }: PaymentSession): void {
  planAt(context, Date.parse(expiresAt), () => {
    const session = context.book.get('sessions', id)
    if (session?.status === 'ACTIVE') expireSession(context, session)
  })
}
