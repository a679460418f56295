import type { Stack } from '#infra/local/stack'
import { against, type Figure, figureText } from '../figure'
import type { LoadResult } from '../load/generator'
import { generateLoad, startQuoteServer } from '../load/processes'
import type { Options } from '../options'
import { quantile } from '../quantile'

const bench = 'quote'
/** Number of rounds, which alternate so that other load affects all three servers. */
const rounds = 3
const aim = { of: 'ratio', bound: 'at least', limit: 0.2 } as const

export async function benchQuote({ info }: Stack, options: Options): Promise<Figure[]> {
  const { connections } = options
  const seconds = Math.ceil(options.seconds / rounds)
  const body = JSON.stringify({ pair: 'USD/IDR' })
  const load = (url: string) => generateLoad({ url: `${url}/quote`, body, connections, seconds })
  await using bare = await startQuoteServer('bare', info.nats)
  await using _answering = await startQuoteServer('answering', info.nats)
  await using asking = await startQuoteServer('asking', info.nats)

  await load(info.gateway) // In this warm-up hot code is compiled.
  const seen: Record<'bare' | 'hop' | 'ours', LoadResult[]> = { bare: [], hop: [], ours: [] }
  for (let round = 0; round < rounds; round++) {
    seen.bare.push(await load(bare.url))
    seen.hop.push(await load(asking.url))
    seen.ours.push(await load(info.gateway))
  }
  const errors = Object.values(seen).flatMap((all) => all.map((one) => one.errors))
  if (errors.some((count) => count > 0)) throw new Error(`${errors} requests of /quote failed`)
  const middle = (all: LoadResult[], of: 'perSecond' | 'p50Ms' | 'p99Ms') =>
    quantile(
      all.map((one) => one[of]),
      0.5,
    )
  const perSecond = (name: string, all: LoadResult[]) => ({
    bench,
    name,
    value: middle(all, 'perSecond'),
    unit: 'requests/s',
  })
  const overBare = (all: LoadResult[], of: 'perSecond' | 'p50Ms' | 'p99Ms') =>
    against(middle(all, of), middle(seen.bare, of), 'bare Elysia handler')
  const took = (percent: 50 | 99) => {
    const of = `p${percent}Ms` as const
    const value = middle(seen.ours, of)
    return {
      bench,
      name: `POST /quote, p${percent}`,
      value,
      unit: 'ms',
      ...overBare(seen.ours, of),
    }
  }
  const overHop = figureText(middle(seen.ours, 'perSecond') / middle(seen.hop, 'perSecond'))
  return [
    {
      ...perSecond('bare Elysia handler, same JSON', seen.bare),
      note: `${connections} connections, median of ${rounds} rounds`,
    },
    {
      ...perSecond('Elysia with one NATS request, same JSON', seen.hop),
      ...overBare(seen.hop, 'perSecond'),
    },
    {
      ...perSecond('POST /quote', seen.ours),
      ...overBare(seen.ours, 'perSecond'),
      aim,
      note: `${overHop} of Elysia with one NATS request`,
    },
    took(50),
    took(99),
  ]
}
