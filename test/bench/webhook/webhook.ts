import { against, type Figure } from '../figure'
import { generateLoad, publishLoad } from '../load/processes'
import type { Options } from '../options'
import { quantile } from '../quantile'
import { layGround } from './ground'

const bench = 'webhook'
/** Number of rounds, which alternate so that other load affects both. */
const rounds = 2
const body = JSON.stringify({
  event: 'payment.capture',
  id: '{id}',
  data: { payment_id: 'py-{id}', reference_id: 'x'.repeat(600) },
})

/** Measures webhooks relative to bare publishes to the same synced stream. */
export async function benchWebhook(options: Options): Promise<Figure[]> {
  if (!options.names.includes(bench)) return []
  await using ground = await layGround()
  const { connections } = options
  const seconds = Math.ceil(options.seconds / (2 * rounds))
  const headers = { 'x-callback-token': ground.secrets.callbackTokens.ID }
  const hook = `${ground.gateway}/webhooks/payments`
  const bus = {
    natsUrl: ground.natsUrl,
    user: 'gateway',
    password: ground.secrets.nats.gateway,
  }
  const deliver = () => generateLoad({ url: hook, body, headers, connections, seconds })
  await deliver() // In this warm-up hot code is compiled.
  const seen: { raw: number[]; ours: number[]; p50Ms: number[] } = { raw: [], ours: [], p50Ms: [] }
  for (let round = 0; round < rounds; round++) {
    seen.raw.push((await publishLoad({ ...bus, body, connections, seconds })).perSecond)
    const { perSecond, p50Ms, errors } = await deliver()
    if (errors > 0) throw new Error(`${errors} webhooks were not recorded`)
    seen.ours.push(perSecond)
    seen.p50Ms.push(p50Ms)
  }
  const middle = (all: number[]) => quantile(all, 0.5)
  return [
    {
      bench,
      name: 'bare JetStream publish',
      value: middle(seen.raw),
      unit: 'messages/s',
      note: `${connections} in flight`,
    },
    {
      bench,
      name: 'webhook to 200',
      value: middle(seen.ours),
      unit: 'webhooks/s',
      ...against(middle(seen.ours), middle(seen.raw), 'bare publish'),
      aim: { of: 'ratio', bound: 'at least', limit: 0.6 },
      note: `${connections} connections`,
    },
    { bench, name: 'webhook to 200, p50', value: middle(seen.p50Ms), unit: 'ms' },
  ]
}
