import { openLog } from '#platform/log'
import { noFee } from '#shared/money/fee'
import { lockQuotes } from '../../../services/pricing/lock'
import { markEnd, mintQuoteId } from '../../../services/pricing/quote-id'
import type { Side } from '../side'

const log = openLog('pricing', process.env.SUITE_LOG ?? 'silent')
const secret = 'the secret that the quotes of suites have'
const ttlMs = 60_000
let minted = 0

/** Returns the id of a new quote, which contains the whole quote. */
export function newQuote(): string {
  const lock = {
    pair: 'USD/IDR',
    minorPerUsd: 16_250n,
    spreadBps: 0n,
    use: 'any',
    expiresAtMs: Date.now() + ttlMs,
  } as const
  return mintQuoteId(secret, lock, minted++ % markEnd)
}

/** Serves the other services on the session's connection. */
export function openPricing(side: Side): Record<string, (request: never) => Promise<unknown>> {
  const context = {
    database: side.database('pricing'),
    quoteSecrets: [secret],
    cashoutFee: noFee,
    topupFees: new Map(),
    quoteTtlMs: ttlMs,
    log,
    clock: Date.now,
  } as unknown as Parameters<typeof lockQuotes>[0]
  const mint = () => {
    throw new Error('no quote is issued here')
  }
  const nobody = { rateOf: () => ({ unavailable: [] }) as never, mint }
  const answers = lockQuotes(context, nobody)
  return Object.fromEntries(
    answers.map(({ question, answer }) => [question.subject, answer as (r: never) => Promise<unknown>]),
  )
}
