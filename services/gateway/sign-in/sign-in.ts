import { LRUCache } from 'lru-cache'
import { signInText } from '#shared/api/session'
import type { Ask } from '#shared/bus/ask'
import { type Clock, toUnixSeconds } from '#shared/clock'
import { SignatureCheck } from '#shared/messages/chain'
import type { Context } from '../context'
import { inTime } from '../http/deadline'
import { okOf, signInAgain } from '../http/failure'
import { type Limiter, openPlaces, type Places, takeFrom } from '../http/limit'
import { judgeSignature, parseSession, type Session } from './session'

/** The wallet behind an Authorization header; throws a 401 that says what is wrong with it. */
export type SignIn = (header: string | null, address: string) => Promise<`0x${string}`>

const ownKeyTtlMs = 5 * 60_000
/** A contract wallet may change its owner at any block. */
const contractTtlMs = 45_000
const rejectedTtlMs = 60_000

/**
 * Opens the sign-in with an empty memory. Cryptography costs: `limiter` counts the sessions not seen
 * before per address. The chain costs more, and anybody may name a wallet that it has to be asked
 * about: of those only so many wait at once, and a wallet's own key is proven without it.
 */
export function openSignIn({ ask, clock, config, users }: Context, limiter: Limiter): SignIn {
  const places = openPlaces(config.publicWaitingMax)
  // The proven signature is kept with the session: the key alone, guessable, must open nothing.
  const proven = openMemory<string>(50_000, clock)
  const rejected = openMemory<true>(10_000, clock)
  return async (header, address) => {
    const read = parseSession(header, toUnixSeconds(clock()))
    if ('fault' in read) throw signInAgain(read.fault)
    const { session } = read
    const key = `${session.wallet}.${session.until}`
    if (proven.peek(key) === session.signature) return session.wallet
    const whole = `${key}.${session.signature}`
    if (rejected.peek(whole)) throw notTheirs()
    takeFrom(limiter, address)
    const ttlMs = await prove({ ask, places }, session)
    if (ttlMs === 0) {
      rejected.set(whole, true, { ttl: rejectedTtlMs })
      throw notTheirs()
    }
    await inTime(users.insert(session.wallet), 'the users')
    const leftMs = Math.min(ttlMs, session.until * 1000 - clock())
    if (leftMs > 0) proven.set(key, session.signature, { ttl: leftMs }) // 0 would be for ever.
    return session.wallet
  }
}

const notTheirs = () => signInAgain('the signature of the session is not by its wallet')

/** How long the proof may be remembered; 0 when there is none. Throws when the chain is silent. */
async function prove(
  { ask, places }: { ask: Ask; places: Places },
  { wallet, until, signature }: Session,
): Promise<number> {
  const text = signInText(wallet, until)
  const verdict = judgeSignature(wallet, text, signature)
  if (verdict === 'signed') return ownKeyTtlMs
  if (verdict === 'malformed') return 0
  const leave = places.enter()
  try {
    const answer = await ask(SignatureCheck, { wallet, text, signature })
    return okOf(answer).valid ? contractTtlMs : 0
  } finally {
    leave()
  }
}

/**
 * An empty memory whose entries expire by the wall clock, as sessions do. Read with `peek`: full, it
 * forgets the oldest, however often that was used.
 */
const openMemory = <V extends string | true>(max: number, clock: Clock) =>
  new LRUCache<string, V>({ max, perf: { now: clock }, ttlResolution: 0 })
