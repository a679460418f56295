import { isObject } from '../route.ts'
import type { World } from './proxy.ts'

/** `POST /control/faults`, `GET /control/faults`, `GET /control/journal`. */
export async function control(
  world: World,
  request: Request,
  path: string,
  setFaults: (change: Record<string, unknown>) => void,
): Promise<Response> {
  if (path === '/control/journal' && request.method === 'GET') return Response.json(world.journal)
  if (path !== '/control/faults') return Response.json({ error: 'not found' }, { status: 404 })
  if (request.method === 'GET') return Response.json(world.faults)
  const change: unknown = await request.json().catch(() => null)
  if (!isObject(change))
    return Response.json({ error: 'a JSON object is expected' }, { status: 400 })
  try {
    setFaults(change)
  } catch (error) {
    return Response.json({ error: (error as Error).message }, { status: 400 })
  }
  return Response.json(world.faults)
}
