import type { Ask } from '#shared/bus/ask'
import { type Clock, toUnixSeconds } from '#shared/clock'
import { SignatureCheck } from '#shared/messages/chain'
import type { Context } from '../context'
import { okOf, signInAgain } from '../http/failure'
import { type Limiter, takeFrom } from '../http/limit'
import { judgeSignature, parseSession, type Session, signInText } from './session'

/** The wallet behind an Authorization header; throws a 401 that says what is wrong with it. */
export type SignIn = (header: string | null, address: string) => Promise<`0x${string}`>

const ownKeyTtlMs = 5 * 60_000
/** A contract wallet may change its owner at any block. */
const contractTtlMs = 45_000
const rejectedTtlMs = 60_000
const chainDeadlineMs = 3_000

/**
 * Opens the sign-in with an empty memory. Cryptography costs: `limiter` counts the sessions not seen
 * before per address.
 */
export function openSignIn({ ask, clock, users }: Context, limiter: Limiter): SignIn {
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
    const ttlMs = await prove(ask, session)
    if (ttlMs === 0) {
      rejected.set(whole, true, rejectedTtlMs)
      throw notTheirs()
    }
    await users.insert(session.wallet)
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

/** A bounded memory whose entries expire; full, it forgets the oldest. */
type ExpiringMap<V> = {
  readonly get: (key: string) => V | undefined
  readonly set: (key: string, value: V, ttlMs: number) => void
}

/** Opens an empty memory of at most `entriesMax` entries. */
function expiringMap<V>(entriesMax: number, clock: Clock): ExpiringMap<V> {
  const entries = new Map<string, { value: V; endsAt: number }>()
  return {
    get(key) {
      const entry = entries.get(key)
      if (!entry) return undefined
      if (entry.endsAt > clock()) return entry.value
      entries.delete(key)
      return undefined
    },
    set(key, value, ttlMs) {
      entries.delete(key)
      entries.set(key, { value, endsAt: clock() + ttlMs })
      if (entries.size > entriesMax) entries.delete(entries.keys().next().value!)
    },
  }
}
