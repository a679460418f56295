import { Elysia } from 'elysia'
import type { Context } from '../context'
import { readBytes } from '../http/body'
import { callerOf } from '../http/caller'
import { type AddressLimits, openLimiter, openPlaces, takeFrom } from '../http/limit'
import { openSignIn } from './sign-in'

/** Checks access. Every route is `signed` or `limited`, which is checked before the body is read. */
export function openAccess(context: Context, addresses: AddressLimits) {
  const { config, clock } = context
  const limiter = (perMinute: number) => openLimiter({ perMinute, clock })
  const signIn = openSignIn(context, limiter(config.rateLimitPublicPerMinute))
  const wallets = limiter(config.rateLimitSignedPerMinute)
  const places = openPlaces(config.publicConcurrencyMax)
  return new Elysia({ name: 'access' }).macro({
    /**
     * Access without sign-in. `public` requests also have a concurrency limit, which counts them once their
     * body has arrived.
     */
    limited: (by: 'public' | 'delivery' | 'probe') => ({
      beforeHandle: async ({ request }) => {
        const caller = callerOf(request)
        takeFrom(addresses[by], caller.address)
        if (by !== 'public') return
        if (request.method === 'POST') await readBytes(request)
        caller.leave = places.enter()
      },
    }),
    /** Access by sign-in. `wallet` is verified and in lower case. */
    signed: {
      async resolve({ request }) {
        const header = request.headers.get('authorization')
        const { address } = callerOf(request)
        takeFrom(addresses.signed, address) // The address is counted first, because refused requests cost too.
        const wallet = await signIn(header, address)
        takeFrom(wallets, wallet)
        return { wallet }
      },
    },
  })
}
export type Access = ReturnType<typeof openAccess>
