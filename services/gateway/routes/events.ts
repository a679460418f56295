import { createHash } from 'node:crypto'
import { toUnixSeconds } from '#platform/clock'
import { GetEvents } from '#shared/api/activity'
import { ChainAccount, ChainActivity } from '#shared/messages/chain'
import { PaymentsActivity } from '#shared/messages/payments'
import { PayoutsActivity } from '#shared/messages/payouts'
import { dayStartMs } from '#shared/money/day'
import { pairs } from '#shared/money/pair'
import type { Context } from '../context'
import { openStreams } from '../events/streams'
import { type Look, watch } from '../events/watch'
import { callerOf } from '../http/caller'
import { inTime } from '../http/deadline'
import { okOf } from '../http/failure'
import { serve } from '../http/serve'
import { sseHeaders, sseResponse } from '../http/sse'
import type { Access } from '../sign-in/access'
import { parseSession } from '../sign-in/session'
import { dueText } from './due'

/** Longest life of a stream, in ms. The session is checked again when the client reconnects. */
const lifeMs = 10 * 60_000
/** Most streams of a wallet, and of this instance, which asks other services every few seconds for each. */
const limits = { perWallet: 5, max: 1_000 }
/** Items of each kind in which a change is noticed; later changes of older ones are rare. */
const itemsLooked = 20

export const eventsRoute = (context: Context, access: Access) => {
  const { leaving, log, clock, news } = context
  const streams = openStreams(limits)
  news.listen(streams.poke)
  return serve(access, GetEvents, async ({ request, wallet }) => {
    const look = () => lookAt(context, wallet)
    const first = await inTime(look(), 'the account')
    const read = parseSession(request.headers.get('authorization'), toUnixSeconds(clock()))
    const sessionMs = 'session' in read ? read.session.until * 1_000 - clock() : 0
    // The router would read the body of a response to HEAD to its end.
    if (request.method === 'HEAD') return new Response(null, { headers: sseHeaders })
    const { address } = callerOf(request)
    return sseResponse(AbortSignal.any([leaving, request.signal]), ({ push, close }) => {
      const end = setTimeout(close, Math.min(lifeMs, sessionMs))
      const looks = watch({ look, push, log }, first, request.headers.get('last-event-id'))
      const leave = streams.enter({ wallet, address, poke: looks.poke, close })
      return () => {
        clearTimeout(end)
        looks.end()
        leave()
      }
    })
  })
}

/** Reads what the account and its activity show. Throws unless all owners respond. */
async function lookAt(
  { ask, autoRepayments, clock, users }: Pick<Context, 'ask' | 'autoRepayments' | 'clock' | 'users'>,
  wallet: `0x${string}`,
): Promise<Look> {
  const asked = { wallet, limit: itemsLooked }
  const [account, user, own, ...lists] = await Promise.all([
    ask(ChainAccount, { wallet }),
    users.find(wallet),
    autoRepayments.page(asked),
    ask(PaymentsActivity, asked),
    ask(PayoutsActivity, asked),
    ask(ChainActivity, asked),
  ])
  const { blockNumber, blockTime, ...state } = okOf(account)
  const activity = [own, ...lists.map(okOf)]
  // Time alone changes the sentence about a debt that becomes due, and makes the limits of the day whole again.
  const due = state.cycle && dueText(state.cycle, BigInt(blockTime)).code
  const days = pairs.map((pair) => dayStartMs(pair, clock()))
  const shown = JSON.stringify([state, due, days, user, activity])
  return {
    tag: createHash('sha256').update(shown).digest('base64url').slice(0, 16),
    isInFlight: activity.some(({ inFlight }) => inFlight.length > 0),
  }
}
