import { Elysia } from 'elysia'
import type { Context } from '../context'
import { readBytes } from '../http/body'
import { callerOf } from '../http/caller'
import { type AddressLimits, limitHeaders, openLimiter, openPlaces, takeFrom } from '../http/limit'
import { openSignIn } from './sign-in'

/** Checks access. Every route is `signed` or `limited`, which is checked before the body is read. */
export function openAccess(context: Context, addresses: AddressLimits) {
  const { config, clock } = context
  const limiter = (perMinute: number) => openLimiter({ perMinute, clock })
  const signIn = openSignIn(context, addresses.signed)
  const wallets = limiter(config.rateLimitSignedPerMinute)
  const places = openPlaces(config.publicConcurrencyMax)
  const takenFrom = (wallet: string) => {
    takeFrom(wallets, wallet)
    return limitHeaders(wallets, wallet)
  }
  /** Returns the wallet of a public request with a valid session. Another one is not refused, but counts by its address. */
  const walletOf = async (request: Request): Promise<string | undefined> => {
    const header = request.headers.get('authorization')
    return header === null ? undefined : signIn(header, callerOf(request).address).catch(() => undefined)
  }
  return new Elysia({ name: 'access' }).macro({
    /**
     * Access without sign-in. A `public` request with a valid session counts for its wallet, any other for its
     * address. `public` requests also have a concurrency limit, which counts them once their body has arrived.
     */
    limited: (by: 'public' | 'start' | 'delivery' | 'probe') => ({
      beforeHandle: async ({ request, set }) => {
        const caller = callerOf(request)
        const wallet = by === 'public' ? await walletOf(request) : undefined
        if (wallet) Object.assign(set.headers, takenFrom(wallet))
        else takeFrom(addresses[by], caller.address)
        if (by !== 'public') return
        if (request.method === 'POST') await readBytes(request)
        caller.leave = places.enter()
      },
    }),
    /** Access by sign-in. `wallet` is verified and in lower case. */
    signed: {
      async resolve({ request, set }) {
        const wallet = await signIn(request.headers.get('authorization'), callerOf(request).address)
        Object.assign(set.headers, takenFrom(wallet))
        await context.terms.accept(wallet, request)
        return { wallet }
      },
    },
  })
}
export type Access = ReturnType<typeof openAccess>
