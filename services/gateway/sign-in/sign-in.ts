import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Ask } from '#platform/bus/ask'
import { type Clock, toUnixSeconds } from '#platform/clock'
import { signInText } from '#shared/api/session'
import { SignatureCheck } from '#shared/messages/chain'
import type { Context } from '../context'
import { inTime } from '../http/deadline'
import { okOf, Refused } from '../http/failure'
import { type Limiter, openPlaces, type Slots, takeFrom } from '../http/limit'
import { isSignedBy, parseSession, type Session, type SessionFault } from './session'

/** Returns the wallet of a session. Throws a 401 with the fault, or a 429. */
type SignIn = (header: string | null, address: string) => Promise<`0x${string}`>

const ownKeyTtlMs = 5 * 60_000
/** Time for which a contract wallet's session is cached, in ms: the contract can change its owner in any block. */
const contractTtlMs = 45_000
const rejectedTtlMs = 60_000

/**
 * Opens the sign-in. `limiter` bounds missing, refused and new sessions per address, because each costs a signature
 * recovery; a proven session is not counted. Chain reads are limited too, because anyone can claim to have a contract
 * wallet.
 */
export function openSignIn({ ask, clock, config, users }: Context, limiter: Limiter): SignIn {
  const places = openPlaces(config.publicConcurrencyMax)
  // The signature is part of the key, because wallet and until can be guessed.
  const proven = openMemory(50_000, clock)
  const rejected = openMemory(10_000, clock)
  return async (header, address) => {
    const read = parseSession(header, toUnixSeconds(clock()))
    if ('fault' in read) {
      takeFrom(limiter, address)
      throw signInAgain(read.fault)
    }
    const { session } = read
    // guard: a cached session opens only for its own signature
    const key = digestOf(session)
    if (proven.peek(key)) return session.wallet
    takeFrom(limiter, address)
    if (rejected.peek(key)) throw notTheirs()
    const ttlMs = await prove({ ask, places }, session)
    if (ttlMs === 0) {
      rejected.set(key, true, { ttl: rejectedTtlMs })
      throw notTheirs()
    }
    await inTime(users.insert(session.wallet), 'the users')
    const leftMs = Math.min(ttlMs, session.until * 1000 - clock())
    if (leftMs > 0) proven.set(key, true, { ttl: leftMs }) // A ttl of 0 would never expire.
    return session.wallet
  }
}

const signInAgain = (code: SessionFault) => new Refused(401, [{ code }])
const notTheirs = () => signInAgain('session_foreign')

/** Returns how long to cache the session, in ms; 0 if it is invalid. Throws if the chain cannot be read. */
async function prove(
  { ask, places }: { ask: Ask; places: Slots },
  { wallet, until, signature }: Session,
): Promise<number> {
  const text = signInText(wallet, until)
  if (isSignedBy(wallet, text, signature)) return ownKeyTtlMs
  const leave = places.enter()
  try {
    const answer = await ask(SignatureCheck, { wallet, text, signature })
    return okOf(answer).valid ? contractTtlMs : 0
  } finally {
    leave()
  }
}

/** Returns a hash as the cache key, because a session's signature can have 4 KiB. */
const digestOf = ({ wallet, until, signature }: Session): string =>
  createHash('sha256').update(`${wallet}.${until}.${signature}`).digest('latin1')

/**
 * Opens a cache that expires by the clock of the sessions. Read it with `peek`, so that use does not delay
 * eviction.
 */
const openMemory = (max: number, clock: Clock) =>
  new LRUCache<string, true>({ max, perf: { now: clock }, ttlResolution: 0 })
