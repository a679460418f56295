export async function askNode(rpcUrl: string, method: string): Promise<string> {
  const answer = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] }),
    signal: AbortSignal.timeout(1_000),
  })
  const body = (await answer.json().catch(() => undefined)) as Answer
  if (typeof body?.result === 'string') return body.result
  const said = body?.error?.message ?? `HTTP ${answer.status}`
  throw new Error(`unexpected response; this does not look like an Ethereum node (${said})`)
}

type Answer = { result?: unknown; error?: { message?: string } } | undefined
