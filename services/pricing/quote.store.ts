import { type JetStreamClient, type KV, type NatsError, StringCodec } from 'nats'
import { Type } from 'typebox'
import { within } from '#shared/deadline'
import { Amount, Pair, Uuid } from '#shared/messages/fields'
import { readerOf } from '#shared/schema'
import { type Lock, type Quote, type Taking, takeQuote } from './quote'

/** A quote that was taken, as `nats kv get quotes <id>` shows it. */
const Taken = Type.Object({
  id: Uuid,
  pair: Pair,
  rate: Amount,
  spreadBps: Type.Optional(Amount),
  expiresAtMs: Type.Integer(),
  takenBy: Type.String(),
})

export type QuoteStore = {
  /** The quote under an id, with who took it; undefined when we never made it. */
  readonly find: (id: string) => Promise<Quote | undefined>
  /** Decides, and writes the first taking alone: of many takers at once exactly one wins. */
  readonly take: (id: string, takenBy: string, nowMs: () => number) => Promise<Taking>
}

/** JetStream's error number for "another revision is there by now". */
const wrongRevision = 10071
const deadlineMs = 3_000
const codec = StringCodec()

/**
 * Opens the bucket that provisioning made: it remembers takings alone, longer than any quote lives.
 * `read` tells what an id promises. Reads go to the stream's leader: no stale copies.
 */
export async function openQuoteStore(
  js: JetStreamClient,
  read: (id: string) => Lock | undefined,
): Promise<QuoteStore> {
  const kv = await js.views.kv('quotes', { bindOnly: true })
  const find = async (written: string) => {
    const id = written.toLowerCase() // UUIDs are equal in either case; keys are not.
    const lock = read(id)
    return lock && { id, ...lock, takenBy: await takerOf(kv, id) }
  }
  return {
    find,
    take: async (id, takenBy, nowMs) => {
      const taking = takeQuote(await find(id), takenBy, nowMs())
      if ('refused' in taking || !taking.write || (await won(kv, taking.taken))) return taking
      // Somebody was quicker, perhaps a repeat of ours: what was taken never changes again.
      const decided = takeQuote(await find(id), takenBy, nowMs())
      if ('taken' in decided && decided.write) throw new Error(`quote ${id} was taken by nobody`)
      return decided
    },
  }
}

async function won(kv: KV, { minorPerUsd, spreadBps, ...quote }: Quote): Promise<boolean> {
  const rate = { rate: minorPerUsd.toString(), spreadBps: spreadBps.toString() }
  const row = codec.encode(JSON.stringify({ ...quote, ...rate }))
  try {
    await within(kv.create(quote.id, row), deadlineMs, 'the quotes bucket')
    return true
  } catch (error) {
    if ((error as NatsError).api_error?.err_code === wrongRevision) return false
    throw error
  }
}

async function takerOf(kv: KV, id: string): Promise<string | null> {
  const entry = await within(kv.get(id), deadlineMs, 'the quotes bucket')
  if (entry?.operation !== 'PUT') return null
  const read = readerOf(Taken)(entry.json())
  if ('fault' in read) throw new Error(`quote ${id} is not readable: ${read.fault}`)
  return read.value.takenBy
}
