import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { personOf } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { pause } from '#platform/deadline'
import { verifiedUser } from '../../support/people'
import { cashoutBody } from '../../support/requests'
import { against, type Figure } from '../figure'
import type { Options } from '../options'
import { quantile } from '../quantile'

const bench = 'alone'
/** Pause in ms, after which no request shares the chain call of another. */
const restMs = 1_000
const aim = { of: 'value', bound: 'at most', limit: 60 } as const

export async function benchAlone(stack: Stack, { samples }: Options): Promise<Figure[]> {
  const count = Math.ceil(samples / 4)
  const person = await verifiedUser(stack, { ausdMicro: BigInt(count) * 6_000_000n + 1_000_000n })
  const to = privateKeyToAccount(generatePrivateKey()).address
  const send = async () => {
    const authorization = await person.sign({ to, valueMicro: 10_000n })
    return () => person.post('/sends', { authorization })
  }
  const cashOut = async () => {
    const body = await cashoutBody(stack, person)
    return () => person.post('/cashouts', body)
  }
  const stranger = async () => {
    const other = personOf(stack.info, generatePrivateKey())
    return () => other.get('/me')
  }
  const call = { jsonrpc: '2.0', id: 1, method: 'eth_call', params: [{ to }, 'latest'] }
  const chain = async () => () => fetch(stack.info.chain.rpcUrl, { method: 'POST', body: JSON.stringify(call) })
  const bareMs = await median(count, chain)
  const requests = [
    ['POST /sends', send],
    ['POST /cashouts', cashOut],
    ['GET /me, first of a wallet', stranger],
  ] as const
  const figures: Figure[] = []
  for (const [name, prepare] of requests) {
    const value = await median(count, prepare)
    const ratio = against(value, bareMs, 'one call of the chain')
    figures.push({ bench, name: `${name}, p50`, value, unit: 'ms', ...ratio, aim })
  }
  return figures
}

async function median(
  count: number,
  prepare: () => Promise<() => Promise<{ readonly status: number }>>,
): Promise<number> {
  const tookMs: number[] = []
  for (let done = 0; done < count; done++) {
    const request = await prepare()
    await pause(restMs)
    const startedMs = performance.now()
    const { status } = await request()
    tookMs.push(performance.now() - startedMs)
    if (status !== 200) throw new Error(`a request was answered with ${status}`)
  }
  return quantile(tookMs, 0.5)
}
