import type { QuotedTopupFees } from '#shared/money/topup-fee'
import { type Answer, ok, refuse } from '#shared/refusals'
import { chance } from './choices'
import type { World } from './world'

type Quote = {
  pair: string
  rate: string
  topupFees?: QuotedTopupFees
  requestFingerprint: string | undefined
  until: number
}

/** Fees of a third of all quotes. */
const topupFees: QuotedTopupFees = [
  { channel: 'qr', fixed: '0', bps: 70 },
  { channel: 'card', fixed: '200', bps: 322 },
]

/** Pricing's rules: a quote is taken once and valid for a minute. */
export class Pricing {
  readonly #quotes = new Map<string, Quote>()
  #count = 0
  readonly rates = new Map([
    ['USD/IDR', '16250'],
    ['USD/MYR', '421'],
  ])

  constructor(private readonly world: World) {}

  quote(pair: string): string {
    this.#count += 1
    const id = `00000000-0000-8000-8000-${this.#count.toString(16).padStart(12, '0')}`
    const rate = this.rates.get(pair)!
    this.#quotes.set(id, {
      pair,
      rate,
      ...(this.#count % 3 === 0 && { topupFees }),
      requestFingerprint: undefined,
      until: this.world.now + 60_000,
    })
    return id
  }

  /** Returns the fees of a quote. The audit expects them, because the row of a payment may be wrong. */
  feesOf(quoteId: string): QuotedTopupFees {
    return this.#quotes.get(quoteId)?.topupFees ?? []
  }

  find(quoteId: string, requestFingerprint: string): Answer<unknown> {
    const quote = this.#quotes.get(quoteId)
    if (!quote) return refuse('quote_unknown')
    if (quote.requestFingerprint !== undefined && quote.requestFingerprint !== requestFingerprint)
      return refuse('quote_used')
    if (quote.requestFingerprint === undefined && quote.until < this.world.now) return refuse('quote_expired')
    const { requestFingerprint: _, until: __, ...named } = quote
    return ok({ id: quoteId, ...named, spreadBps: 0, expiresAt: '' })
  }

  take(quoteId: string, requestFingerprint: string): Answer<unknown> {
    const found = this.find(quoteId, requestFingerprint)
    if ('ok' in found) this.#quotes.get(quoteId)!.requestFingerprint = requestFingerprint
    return found
  }

  present(pair: string): Answer<unknown> {
    const { world } = this
    if (!world.isCalm && chance(world.choices, 200)) {
      world.saw('a late payment waited for a rate')
      return refuse('rate_unavailable')
    }
    return ok({ pair, rate: this.rates.get(pair)! })
  }
}
