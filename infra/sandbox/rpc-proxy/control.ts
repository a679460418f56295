import { isObject } from '../json'
import type { RpcFaults } from './faults'
import type { ProxyJournal } from './journal'

export async function control(
  proxy: { readonly journal: ProxyJournal; readonly faults: RpcFaults },
  request: Request,
  path: string,
  setFaults: (change: Record<string, unknown>) => void,
): Promise<Response> {
  if (path === '/control/journal' && request.method === 'GET') return Response.json(proxy.journal)
  if (path !== '/control/faults') return Response.json({ error: 'not found' }, { status: 404 })
  if (request.method === 'GET') return Response.json(proxy.faults)
  const change: unknown = await request.json().catch(() => null)
  if (!isObject(change)) return Response.json({ error: 'the body must be a JSON object' }, { status: 400 })
  try {
    setFaults(change)
  } catch (error) {
    return Response.json({ error: (error as Error).message }, { status: 400 })
  }
  return Response.json(proxy.faults)
}
