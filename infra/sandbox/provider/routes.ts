import type { Context } from '../context'
import type { SandboxRoute } from '../route'
import { endpoints, type ProviderCore } from './core'

/** Time without a response in ms, longer than any client's timeout. */
const silenceMs = 60_000

/** Returns the provider's endpoints over HTTP. */
export const providerRoutes = (context: Context, provider: ProviderCore): SandboxRoute[] =>
  endpoints.map(({ method, path }) => ({
    method,
    path,
    async run(request) {
      await Bun.sleep(context.faults.api.delayMs)
      const { pathname, searchParams: query } = new URL(request.url)
      const body = await request.text()
      const answer = provider.answer({ method, path: pathname, query, headers: request.headers, body })
      if (answer === 'silence') {
        await silence(request.signal)
        return new Response(null, { status: 504 })
      }
      return Response.json(answer.body, { status: answer.status, headers: { ...answer.headers } })
    },
  }))

async function silence(gone: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, silenceMs)
    timer.unref()
    gone.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
