import { Elysia } from 'elysia'
import { Type } from 'typebox'
import type { Clock } from '#platform/clock'
import type { Context } from '../context'
import type { Readiness } from '../health/probes'
import { Refused } from '../http/failure'
import { operation } from '../openapi/operation'
import type { Access } from '../sign-in/access'

const Status = Type.Object(
  {
    status: Type.Enum(['alive', 'ready'], {
      description: '`alive`: the process runs. `ready`: its dependencies respond as well.',
    }),
  },
  { title: 'Health', description: 'Health of this instance; any failure has another status.' },
)
const readyForMs = 5_000
/** Time for which "not ready" is cached, in ms: short, so that callers soon notice that the service is up. */
const notReadyForMs = 1_000

/** Serves health and readiness without details, which are on the operators' port. */
export const healthRoutes = ({ health, clock, leaving }: Context, access: Access) => {
  const isReady = openYesOrNo(health.readiness, clock)
  return new Elysia()
    .use(access)
    .get('/health', () => ({ status: 'alive' as const }), {
      limited: 'probe',
      ...operation({
        summary: 'Liveness: the process runs',
        tag: 'operations',
        ok: { description: 'Alive.', schema: Status, example: { status: 'alive' } },
        errors: [429],
      }),
    })
    .get(
      '/ready',
      async () => {
        if (!leaving.aborted && (await isReady())) return { status: 'ready' }
        throw new Refused(503, [{ code: 'not_ready' }], notReadyForMs / 1_000)
      },
      {
        limited: 'probe',
        ...operation({
          summary: 'Readiness: Postgres takes writes, NATS and all six services respond',
          tag: 'operations',
          ok: {
            description: 'Ready within the last 5 seconds, and this instance is not shutting down.',
            schema: Status,
            example: { status: 'ready' },
          },
          errors: [429, 503],
        }),
      },
    )
}

function openYesOrNo(readiness: Readiness, clock: Clock): () => Promise<boolean> {
  let [asked, until] = [Promise.resolve(false), 0]
  const ask = async () => {
    const ready = await readiness().then(
      ({ missing }) => missing.length === 0,
      () => false,
    )
    until = clock() + (ready ? readyForMs : notReadyForMs)
    return ready
  }
  return () => {
    const now = clock()
    if (now >= until || now < until - readyForMs) {
      until = now + readyForMs // Concurrent callers share this probe.
      asked = ask()
    }
    return asked
  }
}
