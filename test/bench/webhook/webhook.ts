import { against, type Figure } from '../figure'
import { generateLoad, publishLoad } from '../load/processes'
import type { Options } from '../options'
import { quantile } from '../quantile'
import { layGround } from './ground'

const bench = 'webhook'
/** The two take turns, so that what else the machine does meets both. */
const rounds = 2
const body = JSON.stringify({
  event: 'payment.capture',
  id: '{id}',
  data: { payment_id: 'py-{id}', reference_id: 'x'.repeat(600) },
})

/** Deliveries recorded per second, over bare publishes to the same stream, synced each. */
export async function benchWebhook(options: Options): Promise<Figure[]> {
  if (!options.names.includes(bench)) return []
  await using ground = await layGround()
  const { connections } = options
  const seconds = Math.ceil(options.seconds / (2 * rounds))
  const headers = { 'x-callback-token': ground.secrets.callbackTokens.ID }
  const hook = `${ground.gateway}/webhooks/payments`
  const bus = {
    ...{ natsUrl: ground.natsUrl, user: 'gateway', password: ground.secrets.nats.gateway },
  }
  const deliver = () => generateLoad({ url: hook, body, headers, connections, seconds })
  await deliver() // A service is slower until the runtime has compiled what it does often.
  const seen: { raw: number[]; ours: number[]; p50Ms: number[] } = { raw: [], ours: [], p50Ms: [] }
  for (let round = 0; round < rounds; round++) {
    seen.raw.push((await publishLoad({ ...bus, body, connections, seconds })).perSecond)
    const { perSecond, p50Ms, errors } = await deliver()
    if (errors > 0) throw new Error(`${errors} deliveries were not recorded`)
    seen.ours.push(perSecond)
    seen.p50Ms.push(p50Ms)
  }
  const middle = (all: number[]) => quantile(all, 0.5)
  return [
    {
      ...{ bench, name: 'bare JetStream publish', value: middle(seen.raw), unit: 'messages/s' },
      note: `${connections} under way`,
    },
    {
      ...{ bench, name: 'delivery to its 200', value: middle(seen.ours), unit: 'deliveries/s' },
      ...against(middle(seen.ours), middle(seen.raw), 'bare publish'),
      aim: { of: 'ratio', bound: 'at least', limit: 0.6 },
      note: `${connections} connections`,
    },
    { bench, name: 'delivery to its 200, p50', value: middle(seen.p50Ms), unit: 'ms' },
  ]
}
