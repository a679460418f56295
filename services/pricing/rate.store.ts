import { type JetStreamClient, type KV, StringCodec } from 'nats'
import { type Static, Type } from 'typebox'
import { within } from '#platform/deadline'
import { jsonObject, schemaReader } from '#platform/schema'
import { Amount, Pair as PairField } from '#shared/messages/fields'
import { type Pair, pairKey } from '#shared/money/pair'
import { dayOf, type Sighting } from './rate'

const Stored = Type.Object({
  source: Type.String(),
  pair: PairField,
  localE8PerUsd: Amount,
  asOfMs: Type.Integer(),
  day: Type.String(),
})

/** The bucket `rates`, which has the last rate of each source and the last used one. */
export type RateStore = {
  readonly remember: (sighting: Sighting) => Promise<void>
  /** Returns null also for a malformed rate, because the source is asked anyway. */
  readonly recall: (source: string, pair: Pair) => Promise<Sighting | null>
  readonly accept: (sighting: Sighting) => Promise<void>
  /** Throws for a malformed rate, because there was one. */
  readonly findAccepted: (pair: Pair) => Promise<Sighting | null>
  /** Returns the day for which an operator released a jump. */
  readonly findReleasedDay: (pair: Pair) => Promise<string | undefined>
}

const deadlineMs = 3_000
const codec = StringCodec()

export async function openRateStore(js: JetStreamClient): Promise<RateStore> {
  const kv = await js.views.kv('rates', { bindOnly: true })
  return {
    remember: (sighting) => put(kv, `seen.${sighting.source}.${pairKey(sighting.pair)}`, sighting),
    recall: async (source, pair) => (await get(kv, `seen.${source}.${pairKey(pair)}`)) ?? null,
    accept: (sighting) => put(kv, `accepted.${pairKey(sighting.pair)}`, sighting),
    findAccepted: async (pair) => {
      const key = `accepted.${pairKey(pair)}`
      const last = await get(kv, key)
      if (last === undefined) throw new Error(`${key} in the rates bucket is malformed`)
      return last
    },
    findReleasedDay: async (pair) => {
      const entry = await within(kv.get(`release.${pairKey(pair)}`), deadlineMs, 'the rates bucket')
      return entry?.operation === 'PUT' ? entry.string().trim() : undefined
    },
  }
}

async function put(kv: KV, key: string, sighting: Sighting): Promise<void> {
  const stored: Static<typeof Stored> = {
    ...sighting,
    localE8PerUsd: sighting.localE8PerUsd.toString(),
    day: dayOf(sighting.asOfMs),
  }
  await within(kv.put(key, codec.encode(JSON.stringify(stored))), deadlineMs, 'the rates bucket')
}

/** Reads a rate: null if there is none, undefined if it is malformed. */
async function get(kv: KV, key: string): Promise<Sighting | null | undefined> {
  const entry = await within(kv.get(key), deadlineMs, 'the rates bucket')
  if (entry?.operation !== 'PUT') return null
  const read = schemaReader(Stored)(jsonObject(entry.string()))
  if ('fault' in read) return undefined
  const { source, pair, localE8PerUsd, asOfMs } = read.value
  return { source, pair, localE8PerUsd: BigInt(localE8PerUsd), asOfMs }
}
