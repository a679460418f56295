import { Elysia } from 'elysia'
import type { Clock } from '#platform/clock'
import { GetHealth, GetReady } from '#shared/api/health'
import type { Context } from '../context'
import type { Readiness } from '../health/probes'
import { Refused } from '../http/failure'
import { serve } from '../http/serve'
import type { Access } from '../sign-in/access'

const readyForMs = 5_000
/** Time for which "not ready" is cached, in ms: short, so that callers soon notice that the service is up. */
const notReadyForMs = 1_000

/** Serves health and readiness without details, which are on the operators' port. */
export const healthRoutes = ({ health, clock, leaving }: Context, access: Access) => {
  const isReady = openYesOrNo(health.readiness, clock)
  return new Elysia().use(serve(access, GetHealth, () => ({ status: 'alive' as const }))).use(
    serve(access, GetReady, async () => {
      if (!leaving.aborted && (await isReady())) return { status: 'ready' }
      throw new Refused(503, [{ code: 'not_ready' }], notReadyForMs / 1_000)
    }),
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
