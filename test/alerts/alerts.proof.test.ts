import { afterAll, beforeAll, describe, test } from 'bun:test'
import { ruled } from '#infra/operations/alerts/rules'
import { openRateWorld } from '../conformance/rates/rate-world'
import { verifiedUser } from '../support/people'
import { quickChecks } from '../support/settings'
import { ownStack } from '../support/stack'
import { absent, findProgram, type Prometheus, startPrometheus } from '../support/telemetry/prometheus'
import { becomes, waitUntil } from '../support/wait'
import { conditions, type Scene } from './conditions'
import { hurried, rulesFile } from './hurry'

const program = findProgram('prometheus')

describe.skipIf(!program)(program ? 'on a running stack' : `alerts (${absent})`, () => {
  let scene: Scene
  let prometheus: Prometheus
  const world = openRateWorld()
  const integrator = { answers: 204 }
  const receiver = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => new Response(null, { status: integrator.answers }),
  })
  beforeAll(async () => {
    const stack = await ownStack({
      operations: true,
      proxied: true,
      env: {
        ...quickChecks,
        payouts: { ...quickChecks.payouts, BALANCE_EVERY_MS: '2000' },
        gateway: {
          STREAMS_EVERY_MS: '1000',
          RECHECK_EVERY_MS: '1000',
          IDENTITY_RECHECK_OPEN_MS: '5000',
          EVENTS_URL: receiver.url.href,
          EVENTS_SECRETS: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
        },
        operations: { BOOKS_EVERY_MS: '3000' },
        pricing: {
          RATE_SOURCES: 'frankfurter,bnm,open-er-api',
          FRANKFURTER_URL: world.url,
          BNM_URL: world.url,
          OPEN_ER_API_URL: world.url,
          RATE_POLL_MS: '500',
          RATE_DEADLINE_MS: '1000',
        },
      },
    })
    scene = { stack, world, integrator, person: await verifiedUser(stack, { ausdMicro: 100_000_000n }) }
    prometheus = await startPrometheus(program!, stack.info.ops.gateway, {
      rules: rulesFile(ruled.map(hurried)),
    })
  })
  afterAll(async () => {
    await prometheus?.[Symbol.asyncDispose]()
    await scene?.stack[Symbol.asyncDispose]()
    await world[Symbol.asyncDispose]()
    await receiver.stop(true)
  })

  test('no alert fires while all is well', async () => {
    const scraped = 'count_over_time(ausd_books_run_age_seconds[2m]) > 15'
    const often = async () => (await prometheus.ask(scraped)).length > 0
    await waitUntil('many scrapes', often, 180_000)
    await becomes(() => prometheus.firing(), [])
  })

  test.each(conditions.map((one) => [one.cause, one.alerts.join(', '), one] as const))(
    'if %s, an alert fires and resolves: %s',
    async (_, __, { alerts, begin }) => {
      const end = await begin(scene)
      const fires = async () => {
        const firing = await prometheus.firing()
        return alerts.filter((name) => firing.includes(name))
      }
      try {
        await becomes(fires, alerts)
      } finally {
        await end()
      }
      await becomes(fires, [], 180_000)
    },
  )
})
