import { authorizeRequest, captureRequest, failRequest, openRequest } from '../provider/payer'
import { type Call, param, type Route } from '../route'
import type { World } from '../world'
import { payableChannels } from './channel-list'
import { checkoutPage } from './checkout'
import { notice } from './layout'

/** The hosted checkout: the page, and the plain form it sends. */
export const checkoutRoutes = (world: World): Route[] => [
  {
    method: 'GET',
    path: '/checkout/:id',
    run(request) {
      const session = world.book.get('sessions', param(request, 'id'))
      if (!session) return unknownPayment()
      return checkoutPage(world, session, new URL(request.url).searchParams.get('declined'))
    },
  },
  { method: 'POST', path: '/checkout/:id', run: (request) => act(world, request) },
]

async function act(world: World, request: Call): Promise<Response> {
  const session = world.book.get('sessions', param(request, 'id'))
  if (!session) return unknownPayment()
  const form = await request.formData()
  const channel = payableChannels(session).find(({ code }) => code === form.get('channel_code'))
  const here = `/checkout/${session.id}`
  // A second press of the button, or a page left open too long: show how things stand.
  if (session.status !== 'ACTIVE' || !channel) return seeOther(here)
  const opened = openRequest(world, session, channel.code)
  if (form.get('action') === 'decline') {
    failRequest(world, opened, 'USER_DECLINED_PAYMENT')
    return seeOther(`${here}?declined=${channel.code}`)
  }
  if (session.captureMethod === 'MANUAL') authorizeRequest(world, opened)
  else captureRequest(world, opened, opened.amountMinor)
  return seeOther(here)
}

const seeOther = (location: string): Response =>
  new Response(null, { status: 303, headers: { location } })

function unknownPayment(): Response {
  const text = 'Check the address, or start again from the app.'
  return notice({ title: 'No such payment', sign: '?', tone: 'quiet', text }, null, 404)
}
