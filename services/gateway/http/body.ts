import { DeadlinePassed, within } from '#platform/deadline'
import type { Misfit, Reader } from '#platform/schema'
import type { TextRef } from '#shared/language/catalogue'
import { forms } from '#shared/messages/form'
import { badRequest, Refused } from './failure'
import { openHeld } from './held'

/** Maximum size of a body, far above any valid request or webhook. */
export const bodyBytesMax = 64 * 1024
/** Maximum number of chunks, because each costs a turn of the event loop. */
const chunksMax = 1_024
const bodyDeadlineMs = 5_000
/** Maximum size of all arriving bodies in total, those of refused requests included. */
const arrivingBytesMax = 32 * 1024 * 1024
const hold = openHeld(arrivingBytesMax)

const tooLarge = () => new Refused(413, [{ code: 'body_too_large' }])
const tooManyChunks = () => new Refused(413, [{ code: 'body_too_many_chunks' }])
/** A client sends the same request again after it, which a 400 would tell it not to. */
const late = () => new Refused(408, [{ code: 'body_late' }])
const encoded = () => new Refused(415, [{ code: 'body_encoded' }])

/** Requests whose body was not read to the end. */
const cut = new WeakSet<Request>()

const reading = new WeakMap<Request, Promise<Uint8Array>>()

/** Reads the body once. Throws a 408, 413 or 415. */
export function readBytes(request: Request): Promise<Uint8Array> {
  const begun = reading.get(request)
  if (begun) return begun
  const whole = readWhole(request).catch((error) => {
    cut.add(request)
    throw error
  })
  reading.set(request, whole)
  return whole
}

/** Reads an unread body. Returns true if the connection can be reused. */
export async function isBodyOver(request: Request): Promise<boolean> {
  if (cut.has(request)) return false
  const { headers, body, bodyUsed } = request
  if (bodyUsed) return true
  if (!headers.has('transfer-encoding') && Number(headers.get('content-length') ?? 0) === 0) return true
  if (!body) return false // The server does not expose the body of a GET.
  return readBytes(request).then(
    () => true,
    () => false,
  )
}

async function readWhole(request: Request): Promise<Uint8Array> {
  if (!/^(identity)?$/i.test(request.headers.get('content-encoding') ?? '')) throw encoded()
  const announced = request.headers.get('content-length')
  if (Number(announced ?? 0) > bodyBytesMax) throw tooLarge()
  if (!request.body) return new Uint8Array()
  // The server reads only the announced length, so `bytes()` is bounded. A stream takes several turns of the
  // event loop, and simultaneous requests could then not share a bus request.
  if (announced !== null) return inTime(Number(announced), request.bytes())
  const reader = request.body.getReader()
  return inTime(bodyBytesMax, collect(reader)).catch(async (error) => {
    await reader.cancel().catch(() => {})
    throw error
  })
}

/** Waits for a body until the deadline, or until newer bodies need its memory. */
async function inTime(bytesMax: number, body: Promise<Uint8Array>): Promise<Uint8Array> {
  const dropped = Promise.withResolvers<never>()
  const release = hold(bytesMax, () => dropped.reject(late()))
  try {
    return await within(Promise.race([body, dropped.promise]), bodyDeadlineMs, 'the body')
  } catch (error) {
    if (error instanceof DeadlinePassed) throw late()
    throw error instanceof Refused ? error : badRequest({ code: 'body_incomplete' })
  } finally {
    release()
  }
}

async function collect(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return Buffer.concat(chunks)
    bytes += value.byteLength
    if (bytes > bodyBytesMax) throw tooLarge()
    chunks.push(value)
    if (chunks.length > chunksMax) throw tooManyChunks()
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Parses a JSON body. Throws a 400. */
export function parseJson(bytes: Uint8Array): { text: string; value: unknown } {
  try {
    const text = utf8.decode(bytes)
    return { text, value: JSON.parse(text) }
  } catch {
    throw badRequest({ code: 'body_not_json' })
  }
}

/** Reads a JSON body by its schema. Throws a 400 that names the field. */
export async function readBody<T>(request: Request, reader: Reader<T>): Promise<T> {
  const bytes = await readBytes(request)
  if (bytes.byteLength === 0) throw badRequest({ code: 'body_not_object' })
  if (!isJson(request.headers.get('content-type'))) throw badRequest({ code: 'content_type' })
  const read = reader(parseJson(bytes).value)
  if ('fault' in read) throw badRequest(textAbout(read))
  return read.value
}

function textAbout({ why, field, says }: Misfit): TextRef {
  if (why === 'not an object') return { code: 'body_not_object' }
  const form = forms.find((one) => one === says)
  if (form) return { code: `form.${form}`, field }
  if (field === '') return { code: 'body_mismatch' }
  return { code: codes[why], field }
}
const codes = {
  missing: 'field_missing',
  unknown: 'field_unknown',
  invalid: 'field_invalid',
} as const

const isJson = (contentType: string | null) =>
  /^application\/json\s*(;\s*charset=("?)utf-8\2\s*)?$/i.test(contentType ?? '')
