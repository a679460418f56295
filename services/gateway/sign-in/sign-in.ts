import type { Ask } from '#shared/bus/ask'
import { type Clock, toUnixSeconds } from '#shared/clock'
import { SignatureCheck } from '#shared/messages/chain'
import { takeFrom } from '../http/limit.ts'
import { signInAgain } from '../http/refused.ts'
import { okOf } from '../http/respond.ts'
import type { Limiter } from '../http/token-bucket.ts'
import { expiringMap } from './expiring-map.ts'
import { parseSession, type Session, signInText } from './session.ts'
import { judgeSignature } from './signature.ts'

/** The wallet behind an Authorization header; throws a 401 that says what is wrong with it. */
export type SignIn = (header: string | null, address: string) => Promise<`0x${string}`>

const ownKeyTtlMs = 5 * 60_000
/** A contract wallet may change its owner at any block. */
const contractTtlMs = 45_000
const rejectedTtlMs = 60_000
const chainDeadlineMs = 3_000

/** What proving a session needs. */
export type SignInParts = {
  ask: Ask
  /** Writes the user's row on the first signed call. */
  arrive: (wallet: `0x${string}`) => Promise<void>
  /** Cryptography costs: sessions not seen before are counted per address. */
  limiter: Limiter
  clock: Clock
}

/** Opens the sign-in with an empty memory. */
export function openSignIn(parts: SignInParts): SignIn {
  const { clock, limiter } = parts
  // The proven signature is kept with the session: the key alone, guessable, must open nothing.
  const proven = expiringMap<string>(50_000, clock)
  const rejected = expiringMap<true>(10_000, clock)
  return async (header, address) => {
    const read = parseSession(header, toUnixSeconds(clock()))
    if ('fault' in read) throw signInAgain(read.fault)
    const { session } = read
    const key = `${session.wallet}.${session.until}`
    if (proven.get(key) === session.signature) return session.wallet
    const whole = `${key}.${session.signature}`
    if (rejected.get(whole)) throw notTheirs()
    takeFrom(limiter, address)
    const ttlMs = await prove(parts.ask, session)
    if (ttlMs === 0) {
      rejected.set(whole, true, rejectedTtlMs)
      throw notTheirs()
    }
    await parts.arrive(session.wallet)
    proven.set(key, session.signature, Math.min(ttlMs, session.until * 1000 - clock()))
    return session.wallet
  }
}

const notTheirs = () => signInAgain('the signature of the session is not by its wallet')

/** How long the proof may be remembered; 0 when there is none. Throws when the chain is silent. */
async function prove(ask: Ask, { wallet, until, signature }: Session): Promise<number> {
  const text = signInText(wallet, until)
  const verdict = await judgeSignature(wallet, text, signature)
  if (verdict === 'signed') return ownKeyTtlMs
  if (verdict === 'malformed') return 0
  const answer = await ask(SignatureCheck, { wallet, text, signature }, chainDeadlineMs)
  return okOf(answer).valid ? contractTtlMs : 0
}
