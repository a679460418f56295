import type { StaticDecode, TSchema } from 'typebox'
import { within } from '#shared/deadline'
import { readerOf } from '#shared/schema'

/** Rates of all currencies of the world fit many times. */
const bytesMax = 262_144

/** Asks a public source and reads its JSON by a schema. Throws on everything else. */
export async function askJson<S extends TSchema>(
  address: string,
  schema: S,
  options: { deadlineMs: number; accept?: string },
): Promise<StaticDecode<S>> {
  const { host } = new URL(address)
  const body = await within(fetchJson(address, options), options.deadlineMs, host)
  const read = readerOf(schema)(body)
  if ('fault' in read) throw new Error(`${host} answered another form: ${read.fault}`)
  return read.value
}

async function fetchJson(
  address: string,
  { deadlineMs, accept }: { deadlineMs: number; accept?: string },
): Promise<unknown> {
  const response = await fetch(address, {
    headers: { Accept: accept ?? 'application/json' },
    redirect: 'manual', // A person checks a rate source that has moved.
    signal: AbortSignal.timeout(deadlineMs),
  })
  const { host } = new URL(address)
  if (response.status !== 200) throw new Error(`${host} answered ${response.status}`)
  const type = response.headers.get('Content-Type') ?? ''
  if (!/^application\/([\w.+-]+\+)?json\b/i.test(type)) throw new Error(`${host} answered ${type}`)
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) throw new Error(`${host} answered more than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}
