import { type JetStreamClient, type KV, type NatsError, StringCodec } from 'nats'
import { type Static, Type } from 'typebox'
import { within } from '#shared/deadline'
import { Amount, Pair, Uuid } from '#shared/messages/fields'
import { readerOf } from '#shared/schema'
import { type Quote, type Taking, takeQuote } from './quote'

/** The form in the bucket, as `nats kv get quotes <id>` shows it. */
const Stored = Type.Object({
  id: Uuid,
  pair: Pair,
  rate: Amount,
  expiresAtMs: Type.Integer(),
  takenBy: Type.Union([Type.String(), Type.Null()]),
})

export type QuoteStore = {
  /** Throws when the bucket does not confirm: the quote must not be handed out then. */
  readonly add: (quote: Quote) => Promise<void>
  readonly find: (id: string) => Promise<Quote | undefined>
  /** Decides and writes by compare-and-set: of many takers at once exactly one wins. */
  readonly take: (id: string, takenBy: string, nowMs: () => number) => Promise<Taking>
}

/** JetStream's error number for "another revision is there by now". */
const wrongRevision = 10071
const deadlineMs = 3_000
/** A taken quote never changes again, so the second reading decides; more are not expected. */
const readingsMax = 5
const codec = StringCodec()

/** Opens the bucket that provisioning made. Reads go to the stream's leader: no stale copies. */
export async function openQuoteStore(js: JetStreamClient): Promise<QuoteStore> {
  const kv = await js.views.kv('quotes', { bindOnly: true })
  const read = (id: string) => within(kv.get(keyOf(id)), deadlineMs, 'the quotes bucket')
  return {
    add: async (quote) => {
      await within(kv.create(keyOf(quote.id), encode(quote)), deadlineMs, 'the quotes bucket')
    },
    find: async (id) => decode(await read(id)),
    take: async (id, takenBy, nowMs) => {
      for (let reading = 0; reading < readingsMax; reading++) {
        const entry = await read(id)
        const taking = takeQuote(decode(entry), takenBy, nowMs())
        if ('refused' in taking || !taking.write) return taking
        if (await won(kv, taking.taken, entry!.revision)) return taking
      }
      throw new Error(`quote ${id} kept changing`)
    },
  }
}

async function won(kv: KV, quote: Quote, revision: number): Promise<boolean> {
  try {
    const write = kv.update(keyOf(quote.id), encode(quote), revision)
    await within(write, deadlineMs, 'the quotes bucket')
    return true
  } catch (error) {
    if ((error as NatsError).api_error?.err_code === wrongRevision) return false
    throw error
  }
}

/** UUIDs are equal in either case; keys are not. */
const keyOf = (id: string) => id.toLowerCase()

function encode({ minorPerUsd, ...quote }: Quote): Uint8Array {
  return codec.encode(JSON.stringify({ ...quote, rate: minorPerUsd.toString() }))
}

function decode(entry: Awaited<ReturnType<KV['get']>>): Quote | undefined {
  if (entry?.operation !== 'PUT') return undefined
  const read = readerOf(Stored)(entry.json())
  if ('fault' in read) throw new Error(`quote ${entry.key} is not readable: ${read.fault}`)
  const { rate, ...quote }: Static<typeof Stored> = read.value
  return { ...quote, minorPerUsd: BigInt(rate) }
}
