import { Overdue, within } from '#shared/deadline'

/** Where a stack on one machine answers for the buttons of the console: whoever started it. */
export type Sandbox = {
  /** What can be done now, as forms. */
  readonly deeds: () => Promise<Response>
  /** Does one of them. */
  readonly act: (name: string, request: Request) => Promise<Response>
}

/** A deed may wait for the chain. */
const actDeadlineMs = 30_000
const listDeadlineMs = 5_000
const bodyCharactersMax = 16 * 1024

/** Hands questions and deeds on; decides nothing and knows none of them. */
export function openSandbox(at: { url: string; token: string }): Sandbox {
  const headers = { authorization: `Bearer ${at.token}`, 'content-type': 'application/json' }
  const ask = async (path: string, deadlineMs: number, body?: string): Promise<Response> => {
    const init = body === undefined ? { headers } : { headers, method: 'POST', body }
    try {
      const told = async () => {
        const answer = await fetch(`${at.url}${path}`, init)
        return Response.json(await answer.json(), { status: answer.status })
      }
      return await within(told(), deadlineMs, 'the sandbox')
    } catch (error) {
      const unknown = error instanceof Overdue && body !== undefined
      const words = unknown ? 'No answer came: it may have been done.' : 'The starter is gone.'
      return Response.json({ error: words }, { status: 503 })
    }
  }
  return {
    deeds: () => ask('/deeds', listDeadlineMs),
    act: async (name, request) => {
      const body = await request.text()
      if (body.length > bodyCharactersMax)
        return Response.json({ error: 'That is too much.' }, { status: 413 })
      return ask(`/deeds/${name}`, actDeadlineMs, body)
    },
  }
}
