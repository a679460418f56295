import { createHash, timingSafeEqual } from 'node:crypto'
import { type ControlAction, readAction, UnfitField } from '#infra/local/controls/action'
import { freshSecret } from '#infra/local/keys'

export type Controls = AsyncDisposable & {
  readonly url: string
  readonly token: string
  readonly offer: (actions: () => Promise<readonly ControlAction[]>) => void
}

/**
 * Opens the listener of the controls. It runs in the stack's supervisor, because services do not manage each other.
 * Only the gateway has the token; browsers are refused.
 */
export function openControlsListener(): Controls {
  const token = freshSecret()
  let actions: (() => Promise<readonly ControlAction[]>) | undefined
  const right = digestOf(`Bearer ${token}`)
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    maxRequestBodySize: 16 * 1024,
    idleTimeout: 60,
    fetch: async (request) => {
      const given = digestOf(request.headers.get('authorization') ?? '')
      if (request.headers.has('origin') || request.headers.has('sec-fetch-site'))
        return refusal(403, 'browsers are not allowed')
      if (!timingSafeEqual(right, given)) return refusal(401, 'the token is missing or wrong')
      if (!actions) return refusal(503, 'the stack is still starting')
      return answer(request, await actions())
    },
    error: (error) => refusal(500, error.message),
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    token,
    offer: (offered) => {
      actions = offered
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

const digestOf = (text: string) => createHash('sha256').update(text).digest()
const refusal = (status: number, error: string) => Response.json({ error }, { status })

async function answer(request: Request, actions: readonly ControlAction[]): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (request.method === 'GET' && pathname === '/actions')
    return Response.json({ actions: actions.map(({ act: _, ...shown }) => shown) })
  const action = actions.find(({ name }) => pathname === `/actions/${name}`)
  if (request.method !== 'POST' || !action) return refusal(404, 'no such action')
  if (action.disabled) return refusal(409, action.disabled)
  try {
    const given = readAction(action, await request.json().catch(() => undefined))
    return Response.json(await action.act(given))
  } catch (error) {
    return refusal(error instanceof UnfitField ? 400 : 502, (error as Error).message)
  }
}
