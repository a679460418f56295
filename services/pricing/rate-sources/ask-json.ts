import type { StaticDecode, TSchema } from 'typebox'
import { within } from '#platform/deadline'
import { schemaReader } from '#platform/schema'

/** Largest response in bytes, many times the size of all currencies' rates. */
const bytesMax = 262_144

/** Fetches JSON. Throws on any response that does not fit the schema. */
export async function askJson<S extends TSchema>(
  address: string,
  schema: S,
  options: { deadlineMs: number; accept?: string },
): Promise<StaticDecode<S>> {
  const { host } = new URL(address)
  const body = await within(fetchJson(address, options), options.deadlineMs, host)
  const read = schemaReader(schema)(body)
  if ('fault' in read) throw new Error(`${host} returned unexpected JSON: ${read.fault}`)
  return read.value
}

async function fetchJson(
  address: string,
  { deadlineMs, accept }: { deadlineMs: number; accept?: string },
): Promise<unknown> {
  const response = await fetch(address, {
    headers: { Accept: accept ?? 'application/json' },
    redirect: 'manual', // A source that has moved needs manual review.
    signal: AbortSignal.timeout(deadlineMs),
  })
  const { host } = new URL(address)
  if (response.status !== 200) throw new Error(`${host} responded ${response.status}`)
  const type = response.headers.get('Content-Type') ?? ''
  if (!/^application\/([\w.+-]+\+)?json\b/i.test(type)) throw new Error(`${host} returned ${type}`)
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) throw new Error(`${host} returned more than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}
