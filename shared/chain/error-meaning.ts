import { BaseError } from 'viem'
import { methodOf, type RpcCall } from '#shared/chain/methods'

/** Error of a JSON-RPC reply. */
export type RpcError = { readonly code?: number | undefined; readonly message: string; readonly data?: unknown }

/**
 * Meaning of an error. `chain`: every node would answer so. `rate`: the endpoint limits its calls and has done nothing.
 * `limit`: the endpoint limits its calls, or refuses the range; only a repetition shows which. `range`: it serves a
 * smaller range. `behind`: it lacks these blocks so far. `busy`: it asks to be called later. `fault`: any other error of
 * the endpoint's own.
 */
export type ErrorMeaning = 'chain' | 'rate' | 'limit' | 'range' | 'behind' | 'busy' | 'fault'

/** -32007 is QuickNode's ("50/second request limit reached"), -32029 TheRPC's. */
const rateCodes: ReadonlySet<number> = new Set([429, -32007, -32029])
const rateWords = /rate limit|too many requests|request limit reached|requests? per second/i
/** EIP-1474's "limit exceeded", which some providers return for a range too. */
const limitExceeded = -32005

/** Codes of a refused range: those of Monad's public endpoints and nodes, then those of others. */
const rangeCodes: ReadonlySet<number> = new Set([-32614, -32602, -32012, -32062])
const rangeWords = /range|too (large|many|big|wide)|limited to|response size|exceed|timed? ?out/i
/** Words that tell a refused range from a rate limit if both have the code of EIP-1474. */
const rangeWordsOfLimit = /range|blocks|logs|results|size/i
const behindWords = /not found|out ?of ?range|unknown block|beyond|after last/i
const busyWords = /overloaded|try again/i
const noMethod = -32601

/**
 * Returns what an error means as the reply to a method. Codes differ between nodes and releases, so that the words
 * decide as well, but only words that the endpoint itself must have chosen.
 */
export function meaningOf(name: string, { code, message, data }: RpcError): ErrorMeaning {
  const method = methodOf(name)
  if (method.runsCode && (code === 3 || isRevertData(data) || /revert|out ?of ?gas/i.test(message))) return 'chain'
  if (rateWords.test(message) || (code !== undefined && rateCodes.has(code))) return 'rate'
  if (code === limitExceeded) {
    if (!method.hasRange) return 'rate'
    return rangeWordsOfLimit.test(message) ? 'range' : 'limit'
  }
  if (busyWords.test(message)) return 'busy'
  if (code === noMethod) return 'fault'
  if (behindWords.test(message)) return 'behind'
  if (!method.hasRange) return 'fault'
  return rangeCodes.has(code ?? 0) || rangeWords.test(message) ? 'range' : 'fault'
}

/** Returns true for the data of a revert. Some nodes put the number of a block that they lack there. */
export const isRevertData = (value: unknown): value is `0x${string}` =>
  typeof value === 'string' && /^0x(?:[0-9a-f]{2}){4,}$/i.test(value)

/** A response with HTTP 429, with the delay that the endpoint asks for, in ms. viem's errors lose it. */
export class AskedTooOften extends Error {
  override name = 'AskedTooOften'
  constructor(readonly forMs: number) {
    super('too many requests')
  }
}

export function askedTooOftenIn(error: unknown): AskedTooOften | undefined {
  const found = error instanceof BaseError && error.walk((one) => one instanceof AskedTooOften)
  return found ? (found as AskedTooOften) : undefined
}

/** Returns what an error of viem means as the reply to a call. */
export function meaningIn({ method }: RpcCall, error: unknown): ErrorMeaning {
  if (askedTooOftenIn(error)) return 'rate'
  if (!(error instanceof BaseError)) return 'fault'
  const bearer = error.walk((one) => typeof (one as { code?: unknown }).code === 'number')
  if (!bearer) return 'fault'
  const { code, data } = bearer as unknown as { code: number; data?: unknown }
  return meaningOf(method, { code, message: error.details ?? '', data })
}
