import { payableChannels } from '../channels/channels'
import type { Context } from '../context'
import { authorizeRequest, captureRequest, failRequest, openRequest } from '../provider/payer'
import { type Call, param, type SandboxRoute } from '../route'
import { checkoutPage } from './checkout'
import { notice } from './layout'

export const checkoutRoutes = (context: Context): SandboxRoute[] => [
  {
    method: 'GET',
    path: '/checkout/:id',
    run(request) {
      const session = context.book.get('sessions', param(request, 'id'))
      if (!session) return unknownPayment()
      return checkoutPage(context, session, new URL(request.url).searchParams.get('declined'))
    },
  },
  { method: 'POST', path: '/checkout/:id', run: (request) => act(context, request) },
]

async function act(context: Context, request: Call): Promise<Response> {
  const session = context.book.get('sessions', param(request, 'id'))
  if (!session) return unknownPayment()
  const form = await request.formData()
  const channel = payableChannels(session).find(({ code }) => code === form.get('channel_code'))
  const here = `/checkout/${session.id}`
  // The payer pressed the button twice, or the page is out of date.
  if (session.status !== 'ACTIVE' || !channel) return seeOther(here)
  const opened = openRequest(context, session, channel.code)
  if (form.get('action') === 'decline') {
    failRequest(context, opened, 'USER_DECLINED_PAYMENT')
    return seeOther(`${here}?declined=${channel.code}`)
  }
  if (session.captureMethod === 'MANUAL') authorizeRequest(context, opened)
  else captureRequest(context, opened, opened.amountMinor)
  return seeOther(here)
}

const seeOther = (location: string): Response => new Response(null, { status: 303, headers: { location } })

function unknownPayment(): Response {
  const text = 'Check the link, or start again from the app.'
  return notice({ title: 'Payment not found', sign: '?', tone: 'quiet', text }, null, 404)
}
