/** Controls of a sandbox, served by the process that started the local stack. */
export type SandboxControls = {
  readonly actions: () => Promise<Response>
  readonly act: (name: string, request: Request) => Promise<Response>
}

/** Deadlines of requests, in ms; an action may wait for the chain. */
const usualDeadlines = { listMs: 5_000, actMs: 30_000 }
const bodyCharactersMax = 16 * 1024

export function openSandbox(at: { url: string; token: string }, { listMs, actMs } = usualDeadlines): SandboxControls {
  const headers = { authorization: `Bearer ${at.token}`, 'content-type': 'application/json' }
  const ask = async (path: string, deadlineMs: number, body?: string): Promise<Response> => {
    const signal = AbortSignal.timeout(deadlineMs)
    const init = body === undefined ? { headers, signal } : { headers, signal, method: 'POST', body }
    try {
      const answer = await fetch(`${at.url}${path}`, init)
      return Response.json(await answer.json(), { status: answer.status })
    } catch (error) {
      const unknown = body !== undefined && (error as { code?: unknown }).code !== 'ECONNREFUSED'
      const words = unknown
        ? 'No response: it may or may not have run.'
        : 'The process that started this stack is not running.'
      return Response.json({ error: words }, { status: 503 })
    }
  }
  return {
    actions: () => ask('/actions', listMs),
    act: async (name, request) => {
      const body = await request.text()
      if (body.length > bodyCharactersMax)
        return Response.json({ error: 'The request body is too large.' }, { status: 413 })
      return ask(`/actions/${name}`, actMs, body)
    },
  }
}
