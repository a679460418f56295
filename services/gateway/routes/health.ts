import { Elysia } from 'elysia'
import { Type } from 'typebox'
import type { Clock } from '#shared/clock'
import type { Context } from '../context'
import type { Readiness } from '../health/probes'
import { operation } from '../openapi/operation'

const Status = Type.Object({ status: Type.String() })
const readyForMs = 5_000

/** `GET /health` and `/ready`: for probes from outside. Details are operators' (`health/operators.ts`). */
export const healthRoutes = ({ health, clock }: Context) => {
  const isReady = openYesOrNo(health.readiness, clock)
  return new Elysia()
    .get(
      '/health',
      () => ({ status: 'alive' }),
      operation({
        summary: 'Is the process alive?',
        tag: 'operations',
        ok: { description: 'It is.', schema: Status, example: { status: 'alive' } },
        errors: [],
      }),
    )
    .get(
      '/ready',
      async ({ set }) => {
        if (await isReady()) return { status: 'ready' }
        set.status = 503
        set.headers['retry-after'] = String(readyForMs / 1000)
        return { error: 'not ready' }
      },
      operation({
        summary: 'Does everything answer: Postgres, NATS and all six services?',
        tag: 'operations',
        ok: {
          description: 'It did within the last 5 seconds.',
          schema: Status,
          example: { status: 'ready' },
        },
        errors: [503],
      }),
    )
}

/** Asks once in `readyForMs`, however many callers there are and whatever the answer was. */
function openYesOrNo(readiness: Readiness, clock: Clock): () => Promise<boolean> {
  let known: { readonly at: number; readonly ready: Promise<boolean> } | undefined
  return () => {
    const now = clock()
    if (!known || now - known.at >= readyForMs || now < known.at) {
      const ready = readiness().then(
        (missing) => missing.length === 0,
        () => false,
      )
      known = { at: now, ready }
    }
    return known.ready
  }
}
