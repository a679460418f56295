import { bankDay } from '#test/support/bank-day'

/** A stand-in for the Frankfurter rate API. */
export type Market = {
  readonly url: string
  /** Changes the rate; `stale` serves only rates that are days old. */
  readonly turn: (idrPerUsd: number | 'stale') => void
}

/** The market that the stack of `rates` uses. */
export const market = openMarket()

function openMarket(): Market {
  let idrPerUsd = 16_250
  let ageDays = 0
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) => {
      const quote = url.endsWith('/idr') || url.includes('/idr?') ? 'IDR' : 'MYR'
      const date = bankDay(ageDays)
      return Response.json({ date, base: 'USD', quote, rate: quote === 'IDR' ? idrPerUsd : 4.21 })
    },
  })
  server.unref()
  return {
    url: `http://127.0.0.1:${server.port}`,
    turn: (next) => {
      ageDays = next === 'stale' ? 9 : 0
      if (next !== 'stale') idrPerUsd = next
    },
  }
}
