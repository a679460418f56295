import { Elysia } from 'elysia'
import { Type } from 'typebox'
import type { Clock } from '#shared/clock'
import type { Context } from '../context'
import type { Readiness } from '../health/probes'
import { Refused } from '../http/failure'
import { operation } from '../openapi/operation'

const Status = Type.Object(
  {
    status: Type.Enum(['alive', 'ready'], {
      description: 'The process runs; or what it needs answers, too.',
    }),
  },
  { title: 'Health', description: 'That it is so; otherwise it does not answer 200.' },
)
const readyForMs = 5_000
/** Whoever waits for the service to come up, or back, is to hear of it soon. */
const notReadyForMs = 1_000

/** `GET /health` and `/ready`: for probes from outside. Details are operators' (`health/operators.ts`). */
export const healthRoutes = ({ health, clock, leaving }: Context) => {
  const isReady = openYesOrNo(health.readiness, clock)
  return new Elysia()
    .get(
      '/health',
      () => ({ status: 'alive' as const }),
      operation({
        summary: 'Is the process alive?',
        tag: 'operations',
        ok: { description: 'It is.', schema: Status, example: { status: 'alive' } },
        errors: [],
      }),
    )
    .get(
      '/ready',
      async () => {
        if (!leaving.aborted && (await isReady())) return { status: 'ready' }
        throw new Refused(503, 'not ready', notReadyForMs / 1_000)
      },
      operation({
        summary: 'Does everything answer: Postgres, NATS and all six services?',
        tag: 'operations',
        ok: {
          description: 'It did within the last 5 seconds, and this copy was not told to stop.',
          schema: Status,
          example: { status: 'ready' },
        },
        errors: [503],
      }),
    )
}

/** Asks once in a while, however many callers there are: a yes counts for longer than a no. */
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
      until = now + readyForMs // While it is being asked nobody asks again.
      asked = ask()
    }
    return asked
  }
}
