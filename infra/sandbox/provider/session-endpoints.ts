import type { Session } from '../records'
import { nowText, type World } from '../world'
import type { Endpoint, ProviderCall } from './door'
import { expireSession } from './payer'
import { Problem } from './problem'
import { sessionBody } from './session'
import { sessionFromRequest } from './session-request'

/** The endpoints of hosted payment sessions. */
export const sessionEndpoints: readonly Endpoint[] = [
  { method: 'POST', path: '/sessions', run: create },
  {
    method: 'GET',
    path: '/sessions/:id',
    run: (world, call) => ({ body: sessionBody(ownSession(world, call), world.publicUrl) }),
  },
  { method: 'POST', path: '/sessions/:id/cancel', run: cancel },
]

function create(world: World, { account, body }: ProviderCall) {
  const session = world.book.save(
    'sessions',
    sessionFromRequest(world.book, account, body, Date.now()),
  )
  planExpiry(world, session)
  return { status: 201, body: sessionBody(session, world.publicUrl) }
}

// No webhook follows: the merchant knows what it did.
function cancel(world: World, call: ProviderCall) {
  const session = ownSession(world, call)
  if (session.status !== 'ACTIVE') {
    const message = `Session status is ${session.status}, expecting ACTIVE`
    throw new Problem('INVALID_SESSION_STATUS', message)
  }
  const canceled = world.book.save('sessions', {
    ...session,
    status: 'CANCELED',
    updatedAt: nowText(),
  })
  return { body: sessionBody(canceled, world.publicUrl) }
}

function ownSession({ book }: World, call: ProviderCall): Session {
  const session = book.get('sessions', call.param('id'))
  if (session?.account !== call.account) throw new Problem('NOT_FOUND', 'Session not found')
  return session
}

/** Lets a session expire on its own when its time comes. */
export function planExpiry(world: World, { id, expiresAt }: Session): void {
  world.timers.at(Date.parse(expiresAt), () => {
    const session = world.book.get('sessions', id)
    if (session?.status === 'ACTIVE') expireSession(world, session)
  })
}
