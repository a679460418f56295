import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import type { Stack } from '#infra/local/stack'
import { type Aim, against, type Figure } from '../figure'
import type { LoadResult } from '../load/generator'
import { generateLoad, startPlainServer } from '../load/processes'
import type { Options } from '../options'
import { openHand } from './hand'

const bench = 'verify'

export async function benchVerify(stack: Stack, options: Options): Promise<Figure[]> {
  const { connections, seconds } = options
  const load = (url: string) => generateLoad({ url, connections, seconds })
  const hand = await openHand(stack)
  const wallet = privateKeyToAddress(generatePrivateKey())
  await hand.blockOf(await hand.verify(wallet))

  const plain = await plainLoad(load)
  const warm = await load(`${stack.info.gateway}/verify/${wallet}`)
  const cold = await load(`${stack.info.gateway}/verify/{wallet}`)
  const errors = warm.errors + cold.errors
  if (errors > 0) throw new Error(`${errors} requests of /verify failed`)
  return [
    {
      bench,
      name: 'bare Bun.serve, same JSON',
      value: plain.perSecond,
      unit: 'requests/s',
      note: `${connections} connections`,
    },
    ...figuresOf('warm, same wallet', warm, plain, { of: 'ratio', bound: 'at least', limit: 0.15 }),
    ...figuresOf('cold, new wallets', cold, plain),
  ]
}

async function plainLoad(load: (url: string) => Promise<LoadResult>): Promise<LoadResult> {
  await using server = await startPlainServer()
  return await load(server.url)
}

function figuresOf(name: string, seen: LoadResult, plain: LoadResult, aim?: Aim): Figure[] {
  const counted = `${seen.requests} requests, ${seen.errors} errors, ` + `${seen.withoutHistory} without history`
  return [
    {
      bench,
      name,
      value: seen.perSecond,
      unit: 'requests/s',
      ...against(seen.perSecond, plain.perSecond, 'bare server'),
      ...(aim ? { aim } : {}),
      note: counted,
    },
    {
      bench,
      name: `${name}, p50`,
      value: seen.p50Ms,
      unit: 'ms',
      ...against(seen.p50Ms, plain.p50Ms, 'bare server'),
    },
    {
      bench,
      name: `${name}, p99`,
      value: seen.p99Ms,
      unit: 'ms',
      ...against(seen.p99Ms, plain.p99Ms, 'bare server'),
    },
  ]
}
